#include "engine/catalog/change_rules.h"

#include <fmt/format.h>

#include "engine/catalog/messages.h"
#include "engine/catalog/topic_name.h"
#include "engine/model/limits.h"
#include "io/base/assert.h"

namespace weir::catalog {
namespace {

using model::ErrorCode;

// As many as `added` more partitions?
Verdict check_partition_limits(const Catalog& catalog, int64_t added) {
  if (added > model::kPartitionsPerRequestMax) {
    return refuse(
        ErrorCode::policy_violation,
        fmt::format("Excessively large number of partitions: {}, {} are allowed at a time", added,
                    model::kPartitionsPerRequestMax));
  }
  if (catalog.partition_count() + added > model::kPartitionsMax) {
    return refuse(ErrorCode::policy_violation,
                  fmt::format("This broker has {} partitions and takes {} at most",
                              catalog.partition_count(), model::kPartitionsMax));
  }
  return {};
}

}  // namespace

Verdict check_create_topic(const Catalog& catalog, std::string_view name, int32_t partition_count,
                           Overrides& overrides) {
  if (const auto fault = topic_name_fault(name)) {
    return refuse(ErrorCode::invalid_topic_exception, *fault);
  }
  if (catalog.find(name) != nullptr) {
    return refuse(ErrorCode::topic_already_exists, fmt::format("Topic '{}' already exists.", name));
  }
  if (const Topic* rival = catalog.find_collision(name)) {
    return refuse(ErrorCode::invalid_topic_exception,
                  fmt::format("Topic '{}' collides with existing topic: {}", name, rival->name));
  }
  if (partition_count <= 0) {
    return refuse(ErrorCode::invalid_partitions, "Number of partitions must be larger than 0.");
  }
  if (Verdict verdict = check_partition_limits(catalog, partition_count); !verdict.ok()) {
    return verdict;
  }
  if (catalog.topic_count() >= model::kTopicsMax) {
    return refuse(ErrorCode::policy_violation,
                  fmt::format("This broker takes {} topics at most", model::kTopicsMax));
  }
  return check_new_overrides(catalog.topic_defaults(), overrides);
}

Verdict check_create_partitions(const Catalog& catalog, std::string_view name,
                                int32_t partition_count) {
  const Topic* topic = catalog.find(name);
  if (topic == nullptr) {
    return refuse(ErrorCode::unknown_topic_or_partition,
                  "This server does not host this topic-partition.");
  }
  if (topic->internal) {
    return refuse(
        ErrorCode::invalid_topic_exception,
        fmt::format("Topic '{}' is internal: its partitions decide which group lives where", name));
  }
  if (partition_count <= topic->partition_count) {
    return refuse(
        ErrorCode::invalid_partitions,
        fmt::format("The topic {} currently has {} partition(s); {} would not be an increase.",
                    name, topic->partition_count, partition_count));
  }
  if (partition_count > model::kPartitionsPerTopicMax) {
    return refuse(ErrorCode::policy_violation,
                  fmt::format("{} partitions are too many, a topic has {} at most", partition_count,
                              model::kPartitionsPerTopicMax));
  }
  return check_partition_limits(catalog, partition_count - topic->partition_count);
}

Verdict check_delete_topic(const Catalog& catalog, const Topic& topic) {
  if (!catalog.settings().delete_topic_enable) {
    return refuse(ErrorCode::topic_deletion_disabled, "Topic deletion is disabled.");
  }
  if (topic.internal) {
    return refuse(ErrorCode::invalid_topic_exception,
                  fmt::format("Topic '{}' is internal and cannot be deleted", topic.name));
  }
  return {};
}

void fill_internal_topic(const Settings& settings, std::string_view name, ChangeRequest& request) {
  ASSERT(is_internal_topic(name), "{}", name);
  request.kind = ChangeRequest::Kind::create_topic;
  request.name = name;
  const bool offsets = name == kConsumerOffsetsTopic;
  request.partition_count = offsets ? settings.offsets_topic_num_partitions
                                    : settings.transaction_state_log_num_partitions;
  const int32_t segment_bytes = offsets ? settings.offsets_topic_segment_bytes
                                        : settings.transaction_state_log_segment_bytes;
  request.overrides = {{"cleanup.policy", "compact"},
                       {"compression.type", offsets ? "producer" : "uncompressed"},
                       {"segment.bytes", fmt::format("{}", segment_bytes)}};
}

}  // namespace weir::catalog
