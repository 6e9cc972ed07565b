#include "engine/handlers/find_coordinator.h"

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/wire/messages/find_coordinator.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

// Numbers of the protocol. Share groups (2) are not served.
constexpr int8_t kGroup = 0;
constexpr int8_t kTransaction = 1;
constexpr int16_t kVersionManyKeys = 4;

class FindCoordinatorHandler final : public GroupHandler {
 public:
  using GroupHandler::GroupHandler;

  void start() override {
    if (!request_.decode(in_)) return;
    if (in_.key_type == kGroup) return with_offsets_topic();
    if (in_.key_type == kTransaction) {
      return topic_.ensure<&FindCoordinatorHandler::on_state_topic>(context(), *this);
    }
    respond(ErrorCode::invalid_request);
  }

 private:
  void proceed() override { respond(ErrorCode::none); }
  void refuse(ErrorCode error) override { respond(error); }

  void on_state_topic() {
    respond(StateTopic::exists(context()) ? ErrorCode::none
                                          : ErrorCode::coordinator_not_available);
  }

  void respond(ErrorCode error) {
    wire::FindCoordinatorResponse out;
    const auto fill = [&](auto& to) {
      const bool found = error == ErrorCode::none;
      const io::Address& address = context().advertised_to(request_);
      to.error_code = static_cast<int16_t>(error);
      to.node_id = found ? context().node.node_id : -1;
      to.host = found ? std::string_view(address.host) : "";
      to.port = found ? address.port : -1;
    };
    if (request_.api_version() < kVersionManyKeys) {
      fill(out);
      if (error != ErrorCode::none) out.error_message = "There is no such coordinator.";
      return request_.respond(out);
    }
    out.coordinators = wire::make_array<wire::FindCoordinatorResponse::Coordinator>(
        arena(), in_.coordinator_keys.size());
    if (out.coordinators.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    for (size_t i = 0; i < out.coordinators.size(); ++i) {
      out.coordinators[i].key = in_.coordinator_keys[i];
      fill(out.coordinators[i]);
    }
    request_.respond(out);
  }

  wire::FindCoordinatorRequest in_;
  StateTopic topic_;
};

}  // namespace

void start_find_coordinator(Request& request) { request.run<FindCoordinatorHandler>(); }

}  // namespace weir::handlers
