#pragma once
// A log directory of Apache Kafka, read and checked before anything is made of it: folders
// <topic>-<partition> with segments of format 2, partition.metadata, log-start-offset-checkpoint.
// Index files, leader epochs and producer snapshots are derived and not looked at.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/model/ids.h"
#include "io/base/uuid.h"

namespace weir::tools {

struct KafkaSegment {
  std::string path;
  model::Offset base_offset;
  uint64_t valid_size = 0;  // whole sound batches
};

struct KafkaPartition {
  std::vector<KafkaSegment> segments;  // those with batches, ascending
  model::Offset log_start{0};
  model::Offset log_end{0};
  size_t open_transactions = 0;
  std::string cut{};  // what its torn end was, where it had one
};

struct KafkaTopic {
  base::Uuid id{};  // zero: none is written down
  std::map<int32_t, KafkaPartition> partitions;
};

struct KafkaLogs {
  std::map<std::string, KafkaTopic> topics;
  std::vector<std::string> skipped;  // Kafka's own, a line each with the reason
  int32_t leader_epoch_max = -1;     // of any batch
  int64_t producer_id_max = -1;
};

// Failure where a Kafka runs in the directory; and, with file and position, where batches are of
// format 0 or 1, or something is damaged that is not the torn end of a partition.
KafkaLogs read_kafka_logs(const std::string& directory);

}  // namespace weir::tools
