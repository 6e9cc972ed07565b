#pragma once
// Sample: a little of everything a data directory can hold, written through librdkafka, and all of
// it read back as lines of text. Record times are given, so that what is written is always the same
// and segments roll and compact at once.
//
//   plain      two partitions, a batch of every codec, many segments, its first records deleted
//   compacted  few keys, some deleted again
//   moved      transactions: one committed with offsets of group "copier", one aborted, one open
//   groups     "readers" and "copier" have committed offsets

#include <cstdint>
#include <string>
#include <vector>

namespace weir::crashtest {

// What a broker needs for it.
extern const std::vector<std::string> kSampleSettings;

// `data`: of the broker, to see that it has compacted. Throws what went wrong.
void write_sample(const std::string& bootstrap, const std::string& data);

// Records as read_uncommitted and as read_committed, ends of the logs, offsets of the groups.
std::string read_sample(const std::string& bootstrap);

struct Log {
  const char* topic;
  int32_t partition;
};
// "# <topic>-<partition> <log start>..<end> <isolation>", then a line for each record: offset,
// time, key, value.
std::string read_log(const std::string& bootstrap, const Log& log, const char* isolation);

}  // namespace weir::crashtest
