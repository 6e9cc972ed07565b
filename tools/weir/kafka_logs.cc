#include "tools/weir/kafka_logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "engine/catalog/topic_name.h"
#include "engine/log/file_names.h"
#include "engine/log/record_batch.h"
#include "engine/model/limits.h"
#include "tools/weir/batch_reader.h"
#include "tools/weir/dump.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kPartitionMax = model::kPartitionsPerTopicMax - 1;
constexpr model::Offset kOffsetMax{int64_t{1} << 62};
constexpr int32_t kLeaderEpochMax = 1 << 30;

struct FolderName {
  std::string topic;
  int32_t partition = 0;
};

// Nothing: not a partition, or one on its way out or in.
std::optional<FolderName> parse_folder(const std::string& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == name.size()) return std::nullopt;
  int32_t partition = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, fault] = std::from_chars(name.data() + dash + 1, end, partition);
  if (fault != std::errc() || stop != end || partition < 0 || partition > kPartitionMax) {
    return std::nullopt;
  }
  return FolderName{name.substr(0, dash), partition};
}

// A Kafka that runs holds a lock on this file, as Java locks files.
void check_stopped(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const int result = ::fcntl(descriptor, F_GETLK, &lock);
  ::close(descriptor);
  if (result == 0 && lock.l_type != F_UNLCK) {
    fail_usage("{} is locked by process {}: stop the Kafka broker first", path, lock.l_pid);
  }
}

// "version: 0" and "topic_id: <22 characters>".
base::Uuid read_topic_id(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kName = "topic_id: ";
    if (!line.starts_with(kName)) continue;
    const auto id = base::Uuid::parse(line.substr(kName.size()));
    if (!id) fail("{}: not a topic id: {}", path, line);
    return *id;
  }
  return base::Uuid::zero();
}

// "0", a count, then "<topic> <partition> <offset>" a line.
std::map<std::pair<std::string, int32_t>, int64_t> read_log_starts(const std::string& path) {
  std::map<std::pair<std::string, int32_t>, int64_t> starts;
  std::ifstream file(path);
  if (!file) return starts;
  int version = -1;
  size_t count = 0;
  if (!(file >> version >> count) || version != 0) fail("{}: not a checkpoint of version 0", path);
  for (size_t i = 0; i < count; ++i) {
    std::string topic;
    int32_t partition = 0;
    int64_t offset = 0;
    if (!(file >> topic >> partition >> offset) || offset < 0) {
      fail("{}: line {} makes no sense", path, i + 3);
    }
    starts[{topic, partition}] = offset;
  }
  return starts;
}

class PartitionReader {
 public:
  PartitionReader(KafkaLogs& all, KafkaPartition& partition)
      : all_(all), partition_(partition) {}

  void run(const fs::path& folder) {
    std::map<model::Offset, fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const auto base = log::parse_segment_file(entry.path().filename().string(), log::kLogSuffix);
      if (base) files.emplace(*base, entry.path());
    }
    if (files.empty()) return;
    partition_.log_start = partition_.log_end = files.begin()->first;
    for (const auto& [base, path] : files) {
      if (base < next_) fail("{}: begins below the end of the segment before it, {}",
                             path.string(), next_.value());
      next_ = base;
      read_segment(base, path.string(), base == files.rbegin()->first);
    }
    partition_.log_end = next_;
    partition_.open_transactions = open_.size();
  }

 private:
  void read_segment(model::Offset base, const std::string& path, bool last) {
    InputFile file(path);
    KafkaSegment segment{.path = path, .base_offset = base};
    while (segment.valid_size < file.size()) {
      const auto bytes = sound_batch(file, segment.valid_size);
      if (bytes.empty()) {
        check_end(file, path, segment.valid_size, last);
        break;
      }
      take(log::BatchView(bytes), path, segment.valid_size);
      segment.valid_size += bytes.size();
    }
    if (segment.valid_size > 0) partition_.segments.push_back(segment);
  }

  void take(const log::BatchView& batch, const std::string& path, uint64_t position) {
    if (batch.base_offset() < next_ || batch.last_offset_delta() < 0) {
      fail("{} at position {}: offset {} where {} or more is due", path, position,
           batch.base_offset().value(), next_.value());
    }
    // Outside the CRC: what no broker can have written would spoil what comes after it.
    if (batch.base_offset() > kOffsetMax || batch.leader_epoch() > kLeaderEpochMax) {
      fail("{} at position {}: damaged, offset {} of leader epoch {}", path, position,
           batch.base_offset().value(), batch.leader_epoch());
    }
    next_ = batch.next_offset();
    all_.leader_epoch_max = std::max(all_.leader_epoch_max, batch.leader_epoch());
    all_.producer_id_max = std::max(all_.producer_id_max, batch.producer_id().value());
    if (!batch.is_transactional()) return;
    if (batch.is_control()) open_.erase(batch.producer_id());
    else open_.insert(batch.producer_id());
  }

  // What stands where a batch should: a torn end, or a reason to stop.
  void check_end(InputFile& file, const std::string& path, uint64_t position, bool last) {
    if (file.is_zero_from(position)) {
      if (last) return;
      fail("{} at position {}: zeros where a batch should begin", path, position);
    }
    // Formats 0 and 1: offset i64, size i32, checksum u32, magic i8.
    constexpr uint64_t kOldHead = 17;
    constexpr int32_t kOldSizeMin = 14;
    const auto head = file.read(position, kOldHead);
    if (head.size() == kOldHead) {
      const auto size = base::load_be<int32_t>(head.data() + 8);
      const auto magic = base::load_be<int8_t>(head.data() + 16);
      if ((magic == 0 || magic == 1) && size >= kOldSizeMin &&
          static_cast<uint64_t>(size) <= file.size() - position - log::kBatchLengthEnd) {
        fail("{} at position {}: messages of format {}, written before Kafka 0.11; let a Kafka "
             "rewrite the topic first",
             path, position, magic);
      }
    }
    if (last && next_sound_position(file, position) == file.size()) {
      partition_.cut = fmt::format("{} bytes of a torn end, {} at position {}",
                                   file.size() - position, path, position);
      return;
    }
    fail("{} at position {}: damaged, with batches behind it; nothing was imported", path,
         position);
  }

  KafkaLogs& all_;
  KafkaPartition& partition_;
  model::Offset next_{0};
  std::set<model::ProducerId> open_;
};

// Why a topic stays behind; nothing: it does not.
std::string_view why_skipped(const std::string& topic) {
  if (topic == catalog::kTransactionStateTopic) return "transactional ids begin anew";
  if (topic == "__cluster_metadata" || topic == "__share_group_state" ||
      topic == "__remote_log_metadata") {
    return "it is Kafka's own";
  }
  return {};
}

}  // namespace

KafkaLogs read_kafka_logs(const std::string& directory) {
  if (!fs::exists(directory + "/meta.properties")) {
    fail_usage("{} is no log directory of Kafka: it has no meta.properties", directory);
  }
  check_stopped(directory + "/.lock");
  KafkaLogs all;
  const auto starts = read_log_starts(directory + "/log-start-offset-checkpoint");
  std::set<std::string> skipped;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (!entry.is_directory()) continue;
    const auto name = parse_folder(entry.path().filename().string());
    if (!name) continue;
    if (const auto why = why_skipped(name->topic); !why.empty()) {
      if (skipped.insert(name->topic).second) {
        all.skipped.push_back(fmt::format("{} skipped: {}", name->topic, why));
      }
      continue;
    }
    if (const auto fault = catalog::topic_name_fault(name->topic)) {
      fail("{}: {}", entry.path().string(), *fault);
    }
    KafkaTopic& topic = all.topics[name->topic];
    const auto id = read_topic_id((entry.path() / "partition.metadata").string());
    if (!id.is_zero() && !topic.id.is_zero() && topic.id != id) {
      fail("{}: its topic id is {}, that of other partitions {}", entry.path().string(),
           id.to_string(), topic.id.to_string());
    }
    if (!id.is_zero()) topic.id = id;
    KafkaPartition& partition = topic.partitions[name->partition];
    PartitionReader(all, partition).run(entry.path());
    const auto start = starts.find({name->topic, name->partition});
    if (start == starts.end()) continue;
    partition.log_start = std::max(partition.log_start, model::Offset(start->second));
    partition.log_end = std::max(partition.log_end, partition.log_start);
  }
  std::ranges::sort(all.skipped);
  return all;
}

}  // namespace weir::tools
