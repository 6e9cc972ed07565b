#pragma once
// CleanerWorld: a PartitionWorld whose partitions are compacted, and the map that its readers
// should end with.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/base/random.h"
#include "tests/engine/partition/partition_world.h"

namespace weir::partition {

inline constexpr int64_t kDay = 86'400'000;

inline WorldOptions compacting() {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.settings.compact = true;
  options.settings.min_cleanable_ratio = 0;
  options.settings.file_delete_delay_ms = 1000;
  options.partition.cleaner.backoff_ms = 100;
  return options;
}

using Map = std::map<std::string, std::string>;

class CleanerWorld : public PartitionWorld {
 public:
  explicit CleanerWorld(uint64_t seed = 1, const WorldOptions& options = compacting())
      : PartitionWorld(seed, options) {}

  // One record; an empty value deletes. False: the world crashed.
  bool put(const std::string& key, const std::string& value) {
    builder_.reset({});
    const int64_t now = sim().core(0).clock.wall_ms();
    const auto bytes = value.empty() ? std::nullopt : std::optional(base::as_bytes(value));
    builder_.append(base::as_bytes(key), bytes, now);
    Call<AppendRequest> call;
    send_append(call, builder_.finish());
    pending = {key, value};
    if (!run_until([&] { return call.done; })) return false;
    if (call.error != model::ErrorCode::none) return false;
    apply(model, key, value);
    pending.reset();
    end = call.base_offset.value() + 1;
    return true;
  }
  static void apply(Map& map, const std::string& key, const std::string& value) {
    if (value.empty()) map.erase(key);
    else map[key] = value;
  }
  // `count` records over a few keys, so that several segments fill.
  bool fill(base::RandomStream& random, int count, int keys = 10, size_t value_size = 2000) {
    for (int i = 0; i < count; ++i) {
      const std::string key = "k" + std::to_string(random.below(static_cast<uint64_t>(keys)));
      const bool gone = random.chance(0.15);
      if (!put(key, gone ? "" : std::to_string(random.next()) + std::string(value_size, '.'))) {
        return false;
      }
    }
    return true;
  }
  // Runs until nothing more is to be cleaned.
  bool clean() {
    const uint64_t looks = table().cleaner().looks();
    return run_until([&] {
      return table().cleaner().idle() && table().cleaner().looks() >= looks + 3 &&
             partition().find_cleanable({.wall_ms = sim().core(0).clock.wall_ms(),
                                         .instant = sim().core(0).clock.now()})
                     .dirty_bytes == 0;
    });
  }
  struct Seen {
    Map map;
    std::vector<int64_t> offsets;
    std::set<std::string> tombstones;
    bool sound = true;
  };
  // Reads from the log start to the end; every offset where it stands is asked for.
  Seen read_map(uint32_t size_max = 20'000) {
    Seen seen;
    model::ErrorCode error;
    const auto bytes = read_all(0, error, size_max);
    seen.sound = error == model::ErrorCode::none;
    int64_t last = -1;
    for (std::span<const std::byte> left = bytes; !left.empty();) {
      const log::BatchView batch(left);
      left = left.subspan(batch.size());
      seen.sound = seen.sound && batch.crc() == batch.computed_crc() &&
                   batch.base_offset().value() > last;
      last = batch.last_offset().value();
      std::span<const std::byte> records = batch.records();
      log::Record record;
      for (int32_t i = 0; i < batch.record_count(); ++i) {
        if (!log::read_record(records, record)) return seen;
        const std::string key(base::as_text(*record.key));
        seen.offsets.push_back(batch.base_offset().value() + record.offset_delta);
        if (!record.value) seen.tombstones.insert(key);
        apply(seen.map, key, record.value ? std::string(base::as_text(*record.value)) : "");
      }
    }
    return seen;
  }
  std::vector<log::SegmentName> names() {
    std::vector<log::SegmentName> all;
    for (const auto& segment : partition().log().segments()) all.push_back(segment->name);
    return all;
  }
  size_t files_of(std::string_view suffix) {
    size_t count = 0;
    for (const auto& path : sim().disk().files()) count += path.ends_with(suffix) ? 1 : 0;
    return count;
  }

  Map model;
  std::optional<std::pair<std::string, std::string>> pending;  // sent, not answered
  int64_t end = 0;

 private:
  log::BatchBuilder builder_;
};

}  // namespace weir::partition
