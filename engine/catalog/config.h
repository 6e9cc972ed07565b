#pragma once
// Settings of the catalog: what topics are made of when nobody says otherwise.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/catalog/group_config.h"
#include "engine/catalog/topic_config.h"
#include "engine/model/limits.h"
#include "engine/model/setting.h"

namespace weir::catalog {

struct Settings {
  bool auto_create_topics_enable = true;
  int32_t default_replication_factor = 1;
  bool delete_topic_enable = true;
  int32_t num_partitions = 1;
  int32_t offsets_topic_num_partitions = 50;
  int32_t offsets_topic_segment_bytes = 104'857'600;
  int32_t transaction_state_log_num_partitions = 50;
  int32_t transaction_state_log_segment_bytes = 104'857'600;

  // Defaults of all topics: described by TopicConfig under the names of its synonyms.
  TopicConfig topic_defaults{};
  // What groups may set for themselves: made of the group coordinator's settings.
  std::vector<GroupSetting> group_settings{};

  static constexpr void describe(auto& setting, auto& s) {
    setting("auto.create.topics.enable", s.auto_create_topics_enable,
            {.doc = "Whether a metadata request for a missing topic creates it."});
    setting("default.replication.factor", s.default_replication_factor,
            {.min = 1, .max = 1, .doc = "Replicas of a new topic; one node holds one replica."});
    setting("delete.topic.enable", s.delete_topic_enable,
            {.doc = "Whether topics may be deleted."});
    setting("num.partitions", s.num_partitions,
            {.min = 1,
             .max = model::kPartitionsPerTopicMax,
             .doc = "Partitions of a new topic when the request names no number."});
    setting("offsets.topic.num.partitions", s.offsets_topic_num_partitions,
            {.min = 1,
             .max = model::kPartitionsPerTopicMax,
             .doc = "Partitions of the topic of committed offsets when it is created."});
    setting("offsets.topic.segment.bytes", s.offsets_topic_segment_bytes,
            {.min = 14,
             .unit = "bytes",
             .doc = "Segment size of the topic of committed offsets when it is created."});
    setting("transaction.state.log.num.partitions", s.transaction_state_log_num_partitions,
            {.min = 1,
             .max = model::kPartitionsPerTopicMax,
             .doc = "Partitions of the topic of transaction states when it is created."});
    setting("transaction.state.log.segment.bytes", s.transaction_state_log_segment_bytes,
            {.min = 14,
             .unit = "bytes",
             .doc = "Segment size of the topic of transaction states when it is created."});
  }
};

static_assert(model::defaults_in_range<Settings>());

}  // namespace weir::catalog
