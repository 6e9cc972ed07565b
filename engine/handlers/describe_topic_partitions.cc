#include "engine/handlers/describe_topic_partitions.h"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/describe_topic_partitions.h"

namespace weir::handlers {

using catalog::Topic;
using model::ErrorCode;
using Request_ = wire::DescribeTopicPartitionsRequest;
using Response = wire::DescribeTopicPartitionsResponse;

namespace {

// Partitions of one page, whatever the client asks (max.request.partition.size.limit in Kafka).
constexpr int32_t kPartitionsPerPageMax = 2000;

class Page {
 public:
  Page(Request& request, const Request_& in)
      : arena_(request.arena()),
        node_(request.context().node),
        node_id_(node_.node_id),
        cursor_(in.cursor),
        left_(std::clamp(in.response_partition_limit, 1, kPartitionsPerPageMax)) {}

  // Topics come sorted. False: the page is full, or the arena.
  bool add(const Topic& topic) {
    if (!has_room_for(topic.name)) return false;
    Response::Topic& out = topics_.emplace_back();
    out.name = topic.name;
    out.topic_id = topic.id;
    out.is_internal = topic.internal;
    out.topic_authorized_operations = kTopicOperations;
    const bool resumes = cursor_ && cursor_->topic_name == topic.name;
    const int32_t first = resumes ? cursor_->partition_index : 0;
    const int32_t rest = std::max(topic.partition_count - first, 0);
    const int32_t count = std::min(rest, left_);
    if (!fill(out, first, count)) return false;
    left_ -= count;
    if (count == rest) return true;
    next_ = {.topic_name = topic.name, .partition_index = first + count};
    return false;
  }

  bool add_missing(std::string_view name) {
    if (!has_room_for(name)) return false;
    Response::Topic& out = topics_.emplace_back();
    out.name = name;
    out.error_code = static_cast<int16_t>(catalog::topic_name_fault(name)
                                              ? ErrorCode::invalid_topic_exception
                                              : ErrorCode::unknown_topic_or_partition);
    out.is_internal = catalog::is_internal_topic(name);
    out.topic_authorized_operations = kTopicOperations;
    return true;
  }

  void respond(Request& request) {
    if (too_large_) return request.close_connection("request too large for its memory");
    Response out;
    out.topics = {topics_.data(), topics_.size()};
    out.next_cursor = next_;
    request.respond(out);
  }

 private:
  bool has_room_for(std::string_view name) {
    if (left_ > 0) return true;
    next_ = {.topic_name = name, .partition_index = 0};
    return false;
  }

  bool fill(Response::Topic& out, int32_t first, int32_t count) {
    out.partitions = wire::make_array<Response::Partition>(arena_, static_cast<size_t>(count));
    too_large_ = out.partitions.is_null();
    if (too_large_) return false;
    for (int32_t i = 0; i < count; ++i) {
      Response::Partition& partition = out.partitions[static_cast<size_t>(i)];
      partition.partition_index = first + i;
      partition.leader_id = node_id_;
      partition.leader_epoch = node_.leader_epoch;
      partition.replica_nodes = {&node_id_, 1};
      partition.isr_nodes = {&node_id_, 1};
      partition.eligible_leader_replicas = {};
      partition.last_known_elr = {};
    }
    return true;
  }

  base::Arena& arena_;
  const NodeIdentity& node_;
  int32_t node_id_;  // what all replica lists view
  const std::optional<wire::TopicPartitionsCursor>& cursor_;
  int32_t left_;  // partitions there is room for
  std::vector<Response::Topic> topics_;
  std::optional<wire::TopicPartitionsCursor> next_;
  bool too_large_ = false;  // the arena is full
};

// Every topic of the request is refused.
void refuse(Request& request, const Request_& in) {
  Response out;
  out.topics = wire::make_array<Response::Topic>(request.arena(), in.topics.size());
  if (out.topics.is_null()) return request.close_connection("request too large for its memory");
  for (size_t i = 0; i < in.topics.size(); ++i) {
    out.topics[i].name = in.topics[i].name;
    out.topics[i].error_code = static_cast<int16_t>(ErrorCode::invalid_request);
  }
  request.respond(out);
}

}  // namespace

// What lies before the cursor is left out. A cursor must name one of the topics asked for; without
// any, all are, and the cursor's may have been deleted meanwhile.
void start_describe_topic_partitions(Request& request) {
  Request_ in;
  if (!request.decode(in)) return;
  const std::string_view from = in.cursor ? in.cursor->topic_name : std::string_view{};
  std::set<std::string_view> names;
  for (const auto& topic : in.topics) {
    if (topic.name >= from) names.insert(topic.name);
  }
  const bool all = in.topics.empty();
  if (in.cursor && (in.cursor->partition_index < 0 || (!all && !names.contains(from)))) {
    return refuse(request, in);
  }
  const catalog::Catalog& catalog = request.context().catalog;
  Page page(request, in);
  if (all) {
    for (const Topic& topic : catalog.topics_from(from)) {
      if (!page.add(topic)) break;
    }
  }
  for (const std::string_view name : names) {
    const Topic* const topic = catalog.find(name);
    if (!(topic != nullptr ? page.add(*topic) : page.add_missing(name))) break;
  }
  page.respond(request);
}

}  // namespace weir::handlers
