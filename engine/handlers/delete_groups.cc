#include "engine/handlers/delete_groups.h"

#include <unordered_set>

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class DeleteGroupsHandler final : public GroupHandler {
 public:
  explicit DeleteGroupsHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&DeleteGroupsHandler::on_reply>(*this);
  }

  // A group named twice is answered once, as in Kafka.
  void start() override {
    if (!request_.decode(in_)) return;
    std::unordered_set<std::string_view> seen;
    for (const std::string_view group_id : in_.groups_names) {
      if (seen.insert(group_id).second) results_.push_back({.group_id = group_id});
    }
    with_offsets_topic();
  }

 private:
  void proceed() override {
    for (auto& result : results_) {
      items_.add(core_of(result.group_id), {.group_id = result.group_id, .answer = &result});
    }
    items_.sort();
    send_next();
  }

  void send_next() {
    io::CoreIndex core;
    if (items_.next(core, call_.items)) return send_to(call_, core);
    respond();
  }
  void on_reply(io::Message&) {
    if (has_outcome(call_)) send_next();
  }

  void refuse(ErrorCode error) override {
    for (auto& result : results_) result.error_code = static_cast<int16_t>(error);
    respond();
  }
  void respond() {
    wire::DeleteGroupsResponse out;
    out.results = {results_.data(), results_.size()};
    request_.respond(out);
  }

  wire::DeleteGroupsRequest in_;
  std::vector<wire::DeleteGroupsResponse::Group> results_;
  ItemsByCore<group::DeleteItem> items_;
  group::DeleteGroupsCall call_;
};

}  // namespace

void start_delete_groups(Request& request) { request.run<DeleteGroupsHandler>(); }

}  // namespace weir::handlers
