#include "engine/handlers/offset_commit.h"

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kVersionTopicIds = 10;

class OffsetCommitHandler final : public GroupHandler {
 public:
  explicit OffsetCommitHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&OffsetCommitHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
    for (size_t i = 0; i < out_.topics.size(); ++i) {
      const auto& topic = in_.topics[i];
      out_.topics[i].name = topic.name;
      out_.topics[i].topic_id = topic.topic_id;
      out_.topics[i].partitions =
          wire::make_array<Response::Partition>(arena(), topic.partitions.size());
      if (out_.topics[i].partitions.is_null()) return too_large();
      for (size_t k = 0; k < topic.partitions.size(); ++k) {
        out_.topics[i].partitions[k].partition_index = topic.partitions[k].partition_index;
      }
    }
    if (out_.topics.is_null()) return too_large();
    with_offsets_topic();
  }

 private:
  using Response = wire::OffsetCommitResponse;

  // What names no topic or partition is answered here; it does not hinder the rest (C77).
  void proceed() override {
    for (size_t i = 0; i < in_.topics.size(); ++i) {
      const auto& asked = in_.topics[i];
      const bool by_id = request_.api_version() >= kVersionTopicIds;
      const catalog::Catalog& catalog = context().catalog;
      const catalog::Topic* const topic =
          by_id ? catalog.find(asked.topic_id) : catalog.find(asked.name);
      const ErrorCode unknown =
          by_id && topic == nullptr ? ErrorCode::unknown_topic_id
                                    : ErrorCode::unknown_topic_or_partition;
      // The call outlives this turn and the topic may not: its name is kept where the request is.
      const std::string_view name = by_id && topic != nullptr ? keep(topic->name) : asked.name;
      for (size_t k = 0; k < asked.partitions.size(); ++k) {
        const int32_t partition = asked.partitions[k].partition_index;
        auto& answer = out_.topics[i].partitions[k];
        if (topic == nullptr || partition < 0 || partition >= topic->partition_count) {
          answer.error_code = static_cast<int16_t>(unknown);
          continue;
        }
        items_.push_back({.topic = name,
                          .topic_id = topic->id,
                          .partition = &asked.partitions[k],
                          .answer = &answer});
      }
    }
    if (items_.empty()) return request_.respond(out_);
    call_.request = &in_;
    call_.items = items_;
    send(call_, in_.group_id);
  }

  void refuse(ErrorCode error) override {
    for (auto& topic : out_.topics) {
      for (auto& partition : topic.partitions) partition.error_code = static_cast<int16_t>(error);
    }
    request_.respond(out_);
  }

  void on_reply(io::Message&) {
    if (has_outcome(call_)) request_.respond(out_);
  }

  std::string_view keep(std::string_view text) {
    char* const copy = arena().make_array<char>(text.size());
    if (copy == nullptr) return {};
    std::ranges::copy(text, copy);
    return {copy, text.size()};
  }
  void too_large() { request_.close_connection("request too large for its memory"); }

  wire::OffsetCommitRequest in_;
  Response out_;
  std::vector<group::CommitItem> items_;
  group::OffsetCommitCall call_;
};

}  // namespace

void start_offset_commit(Request& request) { request.run<OffsetCommitHandler>(); }

}  // namespace weir::handlers
