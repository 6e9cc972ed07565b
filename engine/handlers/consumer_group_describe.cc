#include "engine/handlers/consumer_group_describe.h"

#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/group_handler.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

using Response = wire::ConsumerGroupDescribeResponse;

class ConsumerGroupDescribeHandler final : public GroupHandler {
 public:
  explicit ConsumerGroupDescribeHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&ConsumerGroupDescribeHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.groups = wire::make_array<Response::Group>(arena(), in_.group_ids.size());
    if (out_.groups.is_null()) return request_.close_connection("request too large for its memory");
    for (size_t i = 0; i < in_.group_ids.size(); ++i) out_.groups[i].group_id = in_.group_ids[i];
    with_offsets_topic();
  }

 private:
  void proceed() override {
    for (size_t i = 0; i < in_.group_ids.size(); ++i) {
      if (in_.group_ids[i].empty()) {
        out_.groups[i].error_code = static_cast<int16_t>(ErrorCode::invalid_group_id);
        continue;
      }
      items_.add(core_of(in_.group_ids[i]),
                 {.group_id = in_.group_ids[i], .answer = &out_.groups[i]});
    }
    items_.sort();
    send_next();
  }

  void send_next() {
    io::CoreIndex core;
    if (items_.next(core, call_.items)) return send_to(call_, core);
    if (in_.include_authorized_operations) {
      for (auto& group : out_.groups) {
        if (group.error_code == 0) group.authorized_operations = kGroupOperations;
      }
    }
    request_.respond(out_);
  }
  void on_reply(io::Message&) { send_next(); }

  void refuse(ErrorCode error) override {
    for (auto& group : out_.groups) group.error_code = static_cast<int16_t>(error);
    request_.respond(out_);
  }

  wire::ConsumerGroupDescribeRequest in_;
  Response out_;
  ItemsByCore<group::ConsumerDescribeItem> items_;
  group::ConsumerGroupDescribeCall call_;
};

}  // namespace

void start_consumer_group_describe(Request& request) {
  request.run<ConsumerGroupDescribeHandler>();
}

}  // namespace weir::handlers
