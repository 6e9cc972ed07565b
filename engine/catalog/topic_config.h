#pragma once
// Settings of a topic: Kafka's names, types, ranges and defaults (SCOPE 18.1), described once.
//
// Effective value of a setting = the topic's own override, else the broker setting named as its
// synonym, else the default here. Overrides are kept as the client wrote them; values are parsed
// when they change.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/error_code.h"
#include "engine/model/setting.h"
#include "io/base/result.h"

namespace weir::catalog {

// Settings that somebody set, verbatim, sorted by name.
using Overrides = std::map<std::string, std::string, std::less<>>;

// Order of the enumerators = order of the choices in describe().
enum class CompressionType : uint8_t { uncompressed, zstd, lz4, snappy, gzip, producer };
enum class TimestampType : uint8_t { create_time, log_append_time };
using CleanupPolicy = model::ChoiceSet;
inline constexpr uint8_t kCleanupCompact = 0;
inline constexpr uint8_t kCleanupDelete = 1;

struct TopicConfig {
  static constexpr int64_t kForever = INT64_MAX;

  CleanupPolicy cleanup_policy{.bits = 1 << kCleanupDelete};
  CompressionType compression_type = CompressionType::producer;
  int32_t compression_gzip_level = -1;
  int32_t compression_lz4_level = 9;
  int32_t compression_zstd_level = 3;
  int64_t delete_retention_ms = 86'400'000;
  int64_t file_delete_delay_ms = 60'000;
  int64_t flush_messages = kForever;
  int64_t flush_ms = kForever;
  std::string follower_throttled_replicas;
  int32_t index_interval_bytes = 4096;
  std::string leader_throttled_replicas;
  int64_t local_retention_bytes = -2;
  int64_t local_retention_ms = -2;
  int64_t max_compaction_lag_ms = kForever;
  int32_t max_message_bytes = 1'048'588;
  int64_t message_timestamp_after_max_ms = 3'600'000;
  int64_t message_timestamp_before_max_ms = kForever;
  TimestampType message_timestamp_type = TimestampType::create_time;
  double min_cleanable_dirty_ratio = 0.5;
  int64_t min_compaction_lag_ms = 0;
  int32_t min_insync_replicas = 1;
  bool preallocate = false;
  bool remote_log_copy_disable = false;
  bool remote_log_delete_on_disable = false;
  bool remote_storage_enable = false;
  int64_t retention_bytes = -1;        // < 0: no limit
  int64_t retention_ms = 604'800'000;  // -1: no limit
  int32_t segment_bytes = 1'073'741'824;
  int32_t segment_index_bytes = 10'485'760;
  int64_t segment_jitter_ms = 0;
  int64_t segment_ms = 604'800'000;
  bool unclean_leader_election_enable = false;

  [[nodiscard]] bool compacts() const { return cleanup_policy.has(kCleanupCompact); }
  [[nodiscard]] bool deletes() const { return cleanup_policy.has(kCleanupDelete); }
  // Kafka's rules allow tiny segments (old clients create topics so); ours have at least this size.
  static constexpr int32_t kSegmentBytesMin = 1'048'576;
  [[nodiscard]] int32_t effective_segment_bytes() const {
    return segment_bytes < kSegmentBytesMin ? kSegmentBytesMin : segment_bytes;
  }

  // Sorted by name, as DescribeConfigs answers.
  bool operator==(const TopicConfig&) const = default;

  static constexpr void describe(auto& setting, auto& c);
};

// Names that older tools still send and Kafka 4 no longer has: accepted, ignored, never stored.
bool is_removed_topic_setting(std::string_view name);

// The names, types, defaults and sentences of all topic settings; values are the defaults.
std::vector<model::SettingInfo> topic_settings();

// Parses every override on top of `defaults` and checks what settings demand of one another. The
// error text is for the client (INVALID_CONFIG).
base::Result<TopicConfig> make_topic_config(const TopicConfig& defaults,
                                            const Overrides& overrides);

// One override; also knows removed names (ignored) and unknown ones (an error).
base::Status set_topic_setting(TopicConfig& config, std::string_view name, std::string_view value);

// Relations between settings of one topic.
base::Status check_topic_config(const TopicConfig& config);

// --- description
// -----------------------------------------------------------------------------------

constexpr void TopicConfig::describe(auto& setting, auto& c) {
  setting("cleanup.policy", c.cleanup_policy,
          {.choices = "compact|delete",
           .synonym = "log.cleanup.policy",
           .doc = "What happens to old data: delete whole segments by age and size, compact to the "
                  "last record of each key, both, or (empty) neither."});
  setting("compression.gzip.level", c.compression_gzip_level,
          {.min = 1,
           .max = 9,
           .special = -1,
           .synonym = "compression.gzip.level",
           .doc = "Level used when the broker compresses with gzip; -1 is the library's default."});
  setting("compression.lz4.level", c.compression_lz4_level,
          {.min = 1,
           .max = 17,
           .synonym = "compression.lz4.level",
           .doc = "Level used when the broker compresses with lz4."});
  setting("compression.type", c.compression_type,
          {.choices = "uncompressed|zstd|lz4|snappy|gzip|producer",
           .synonym = "compression.type",
           .doc = "How batches are compressed on disk; producer keeps what the producer chose."});
  setting("compression.zstd.level", c.compression_zstd_level,
          {.min = -131072,
           .max = 22,
           .synonym = "compression.zstd.level",
           .doc = "Level used when the broker compresses with zstd."});
  setting(
      "delete.retention.ms", c.delete_retention_ms,
      {.min = 0,
       .unit = "ms",
       .synonym = "log.cleaner.delete.retention.ms",
       .doc = "How long a compacted topic keeps delete markers, so that a reader from the start "
              "sees them."});
  setting("file.delete.delay.ms", c.file_delete_delay_ms,
          {.min = 0,
           .unit = "ms",
           .synonym = "log.segment.delete.delay.ms",
           .doc = "How long a file stays on disk after it stopped being part of the log."});
  setting("flush.messages", c.flush_messages,
          {.min = 1,
           .synonym = "log.flush.interval.messages",
           .doc = "Kept for tools: every acknowledged record is on stable storage already."});
  setting("flush.ms", c.flush_ms,
          {.min = 0,
           .unit = "ms",
           .synonym = "log.flush.interval.ms",
           .synonym_unset = true,
           .doc = "Kept for tools: every acknowledged record is on stable storage already."});
  setting("follower.replication.throttled.replicas", c.follower_throttled_replicas,
          {.list = true, .doc = "Kept for tools: there are no followers to throttle."});
  setting("index.interval.bytes", c.index_interval_bytes,
          {.min = 0,
           .unit = "bytes",
           .synonym = "log.index.interval.bytes",
           .doc = "Kept for tools: the ledger indexes every write group."});
  setting("leader.replication.throttled.replicas", c.leader_throttled_replicas,
          {.list = true, .doc = "Kept for tools: there are no followers to throttle."});
  setting("local.retention.bytes", c.local_retention_bytes,
          {.min = -2,
           .unit = "bytes",
           .synonym = "log.local.retention.bytes",
           .doc = "Kept for tools: there is no tiered storage."});
  setting("local.retention.ms", c.local_retention_ms,
          {.min = -2,
           .unit = "ms",
           .synonym = "log.local.retention.ms",
           .doc = "Kept for tools: there is no tiered storage."});
  setting("max.compaction.lag.ms", c.max_compaction_lag_ms,
          {.min = 1,
           .unit = "ms",
           .synonym = "log.cleaner.max.compaction.lag.ms",
           .doc = "Longest time a record may stay uncompacted in a compacted topic."});
  setting("max.message.bytes", c.max_message_bytes,
          {.min = 0,
           .unit = "bytes",
           .synonym = "message.max.bytes",
           .doc = "Largest record batch that is accepted, as the producer sent it."});
  setting("message.timestamp.after.max.ms", c.message_timestamp_after_max_ms,
          {.min = 0,
           .unit = "ms",
           .synonym = "log.message.timestamp.after.max.ms",
           .doc = "How far a record's timestamp may lie ahead of the broker's clock."});
  setting("message.timestamp.before.max.ms", c.message_timestamp_before_max_ms,
          {.min = 0,
           .unit = "ms",
           .synonym = "log.message.timestamp.before.max.ms",
           .doc = "How far a record's timestamp may lie behind the broker's clock."});
  setting("message.timestamp.type", c.message_timestamp_type,
          {.choices = "CreateTime|LogAppendTime",
           .synonym = "log.message.timestamp.type",
           .doc = "Whether records keep the producer's timestamp or get the time of the append."});
  setting("min.cleanable.dirty.ratio", c.min_cleanable_dirty_ratio,
          {.min = 0,
           .max = 1,
           .synonym = "log.cleaner.min.cleanable.ratio",
           .doc = "Share of uncompacted data from which a compacted log is cleaned again."});
  setting("min.compaction.lag.ms", c.min_compaction_lag_ms,
          {.min = 0,
           .unit = "ms",
           .synonym = "log.cleaner.min.compaction.lag.ms",
           .doc = "Shortest time a record stays uncompacted."});
  setting("min.insync.replicas", c.min_insync_replicas,
          {.min = 1,
           .synonym = "min.insync.replicas",
           .doc = "Kept for tools: with one replica a larger number has no effect."});
  setting("preallocate", c.preallocate,
          {.synonym = "log.preallocate",
           .doc = "Kept for tools: segment files are always allocated ahead."});
  setting("remote.log.copy.disable", c.remote_log_copy_disable,
          {.doc = "Kept for tools: there is no tiered storage."});
  setting("remote.log.delete.on.disable", c.remote_log_delete_on_disable,
          {.doc = "Kept for tools: there is no tiered storage."});
  setting("remote.storage.enable", c.remote_storage_enable,
          {.doc = "Must stay false: there is no tiered storage."});
  setting("retention.bytes", c.retention_bytes,
          {.unit = "bytes",
           .synonym = "log.retention.bytes",
           .doc = "Size of a partition above which its oldest segments are deleted; negative: no "
                  "limit."});
  setting(
      "retention.ms", c.retention_ms,
      {.min = -1,
       .unit = "ms",
       .synonym = "log.retention.ms",
       .synonym_unset = true,
       .doc = "Age of a segment's newest record from which the segment is deleted; -1: no limit."});
  setting("segment.bytes", c.segment_bytes,
          {.min = 14,
           .unit = "bytes",
           .synonym = "log.segment.bytes",
           .doc = "Size of a segment file; values below 1 MiB are kept but act as 1 MiB."});
  setting("segment.index.bytes", c.segment_index_bytes,
          {.min = 4,
           .unit = "bytes",
           .synonym = "log.index.size.max.bytes",
           .doc = "Kept for tools: the ledger grows with its segment."});
  setting(
      "segment.jitter.ms", c.segment_jitter_ms,
      {.min = 0,
       .unit = "ms",
       .synonym = "log.roll.jitter.ms",
       .synonym_unset = true,
       .doc = "Random time subtracted from segment.ms, so that segments do not all roll at once."});
  setting("segment.ms", c.segment_ms,
          {.min = 1,
           .unit = "ms",
           .synonym = "log.roll.ms",
           .synonym_unset = true,
           .doc = "Age from which a segment is closed even when it is not full."});
  setting("unclean.leader.election.enable", c.unclean_leader_election_enable,
          {.synonym = "unclean.leader.election.enable",
           .doc = "Kept for tools: the only replica is always the leader."});
}

static_assert(model::defaults_in_range<TopicConfig>());

}  // namespace weir::catalog
