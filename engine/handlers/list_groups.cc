#include "engine/handlers/list_groups.h"

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

// Asks one core after the other; the arena goes with the call.
class ListGroupsHandler final : public Handler {
 public:
  explicit ListGroupsHandler(Request& request) : Handler(request) {
    call_.bind_reply<&ListGroupsHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    call_.request = &in_;
    call_.arena = &arena();
    call_.api_version = request_.api_version();
    ask_next();
  }

 private:
  using Response = wire::ListGroupsResponse;

  void ask_next() {
    context().io.mailboxes.send(io::CoreIndex(next_core_++), model::ports::kListGroups, call_);
  }

  void on_reply(io::Message&) {
    // One core that cannot answer makes the list incomplete: said, and retried by clients.
    if (call_.error != ErrorCode::none) error_ = call_.error;
    groups_.insert(groups_.end(), call_.groups.begin(), call_.groups.end());
    if (next_core_ < context().io.core_count) return ask_next();
    Response out;
    out.error_code = static_cast<int16_t>(error_);
    if (error_ == ErrorCode::none) out.groups = {groups_.data(), groups_.size()};
    request_.respond(out);
  }

  wire::ListGroupsRequest in_;
  group::ListGroupsCall call_;
  std::vector<Response::Group> groups_;
  ErrorCode error_ = ErrorCode::none;
  uint16_t next_core_ = 0;
};

}  // namespace

void start_list_groups(Request& request) { request.run<ListGroupsHandler>(); }

}  // namespace weir::handlers
