#include "engine/handlers/describe_groups.h"

#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/group_handler.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class DescribeGroupsHandler final : public GroupHandler {
 public:
  explicit DescribeGroupsHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&DescribeGroupsHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.groups = wire::make_array<wire::DescribeGroupsResponse::Group>(arena(), in_.groups.size());
    if (out_.groups.is_null()) return request_.close_connection("request too large for its memory");
    for (size_t i = 0; i < in_.groups.size(); ++i) out_.groups[i].group_id = in_.groups[i];
    with_offsets_topic();
  }

 private:
  void proceed() override {
    for (size_t i = 0; i < in_.groups.size(); ++i) {
      items_.add(core_of(in_.groups[i]), {.group_id = in_.groups[i], .answer = &out_.groups[i]});
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

  wire::DescribeGroupsRequest in_;
  wire::DescribeGroupsResponse out_;
  ItemsByCore<group::DescribeItem> items_;
  group::DescribeGroupsCall call_;
};

}  // namespace

void start_describe_groups(Request& request) { request.run<DescribeGroupsHandler>(); }

}  // namespace weir::handlers
