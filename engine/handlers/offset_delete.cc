#include "engine/handlers/offset_delete.h"

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/wire/messages/offset_delete.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class OffsetDeleteHandler final : public GroupHandler {
 public:
  explicit OffsetDeleteHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&OffsetDeleteHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    if (!prepare()) return request_.close_connection("request too large for its memory");
    with_offsets_topic();
  }

 private:
  using Response = wire::OffsetDeleteResponse;

  // All memory is taken before the call leaves. False: the arena is full.
  bool prepare() {
    out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
    if (out_.topics.is_null()) return false;
    for (size_t i = 0; i < in_.topics.size(); ++i) {
      const auto& asked = in_.topics[i];
      out_.topics[i].name = asked.name;
      out_.topics[i].partitions =
          wire::make_array<Response::Partition>(arena(), asked.partitions.size());
      if (out_.topics[i].partitions.is_null()) return false;
      for (size_t k = 0; k < asked.partitions.size(); ++k) {
        out_.topics[i].partitions[k].partition_index = asked.partitions[k].partition_index;
      }
    }
    return true;
  }

  // What names no topic or partition is answered here; when nothing else is left the group is not
  // looked at, as in Kafka.
  void proceed() override {
    for (const Response::Topic& topic : out_.topics) {
      const catalog::Topic* const found = context().catalog.find(topic.name);
      for (Response::Partition& partition : topic.partitions) {
        const int32_t index = partition.partition_index;
        if (found == nullptr || index < 0 || index >= found->partition_count) {
          partition.error_code = static_cast<int16_t>(ErrorCode::unknown_topic_or_partition);
        } else {
          items_.push_back({.topic = topic.name, .answer = &partition});
        }
      }
    }
    if (items_.empty()) return request_.respond(out_);
    if (in_.group_id.empty()) return refuse(ErrorCode::invalid_group_id);
    call_.group_id = in_.group_id;
    call_.items = items_;
    send(call_, in_.group_id);
  }

  void on_reply(io::Message&) {
    if (!has_outcome(call_)) return;
    if (call_.error != ErrorCode::none) return refuse(call_.error);
    request_.respond(out_);
  }

  // An error of the group is the whole answer.
  void refuse(ErrorCode error) override {
    out_ = {};
    out_.error_code = static_cast<int16_t>(error);
    request_.respond(out_);
  }

  wire::OffsetDeleteRequest in_;
  Response out_;
  std::vector<group::OffsetDeleteItem> items_;
  group::OffsetDeleteCall call_;
};

}  // namespace

void start_offset_delete(Request& request) { request.run<OffsetDeleteHandler>(); }

}  // namespace weir::handlers
