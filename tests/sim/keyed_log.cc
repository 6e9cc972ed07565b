#include "tests/sim/keyed_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::simtest {

int64_t KeyedLog::append(std::vector<Record> records, int64_t now_ns) {
  const int64_t offset = size();
  for (Record& record : records) {
    const auto [newest, first] = newest_.try_emplace(record.key, size());
    if (!first) {
      const auto older = static_cast<size_t>(std::exchange(newest->second, size()));
      entries_[older].newer = size();
    }
    entries_.push_back({std::move(record), now_ns});
  }
  return offset;
}

std::string KeyedLog::acked(int64_t expected, int64_t offset, size_t count) {
  if (offset != expected) {
    return fmt::format("K5: the batch of offset {} was acknowledged at {}", expected, offset);
  }
  durable_ = std::max(durable_, offset + static_cast<int64_t>(count));
  return {};
}

bool KeyedLog::may_be_gone(const ReadMoment& moment, int64_t offset,
                           int64_t high_watermark) const {
  const Entry& entry = at(offset);
  if (entry.newer < high_watermark) return true;
  if (!entry.record.tombstone) return false;
  return moment.clock.age_of_file_most_ms(entry.made_ns) >= rules_.delete_retention_ms;
}

std::string KeyedLog::saw_bounds(const ReadMoment& moment, int64_t start_at_send,
                                 int64_t durable_at_send, int64_t log_start,
                                 int64_t high_watermark) {
  if (high_watermark < durable_at_send || high_watermark > size()) {
    return fmt::format("K4: high watermark {}, {} was durable and {} were sent", high_watermark,
                       durable_at_send, size());
  }
  if (log_start < start_at_send || (rules_.retention_ms < 0 && log_start > 0)) {
    return fmt::format("K4: log start {}, it was {}", log_start, start_at_send);
  }
  for (int64_t offset = log_start_; offset < log_start; ++offset) {
    const Entry& entry = at(offset);
    const int64_t age_ms = moment.clock.age_most_ms(entry.made_ns, entry.record.timestamp);
    if (age_ms > rules_.retention_ms) continue;
    if (may_be_gone(moment, offset, high_watermark)) continue;
    return fmt::format("K4: offset {} is deleted after {} ms at most", offset, age_ms);
  }
  log_start_ = std::max(log_start_, log_start);
  durable_ = std::max(durable_, high_watermark);
  return {};
}

std::string KeyedLog::saw_batch(const ReadMoment& moment, int64_t position, const BatchView& batch,
                                int64_t high_watermark) {
  if (!batch.checksum_matches()) {
    return fmt::format("K1: bad checksum at offset {}", batch.base_offset);
  }
  if (batch.next_offset() > high_watermark || batch.next_offset() > size()) {
    return fmt::format("K1: read up to {}, high watermark {}, {} were sent", batch.next_offset(),
                       high_watermark, size());
  }
  const auto records = read_records(batch);
  if (!records) return fmt::format("K1: unreadable records at offset {}", batch.base_offset);
  auto found = records->begin();
  for (int64_t offset = position; offset < batch.next_offset(); ++offset) {
    while (found != records->end() && found->first < offset) ++found;
    const auto gone = gone_at_.find(offset);
    if (found == records->end() || found->first != offset) {
      if (!may_be_gone(moment, offset, high_watermark)) {
        return fmt::format("K2: offset {} is gone, {} key '{}', sent at {} ns", offset,
                           at(offset).record.tombstone ? "a tombstone of" : "the last of",
                           at(offset).record.key, at(offset).made_ns);
      }
      if (gone == gone_at_.end()) gone_at_.emplace(offset, moment.now_ns);
    } else if (found->second != at(offset).record) {
      return fmt::format("K1: another record at offset {}, key '{}' instead of '{}'", offset,
                         found->second.key, at(offset).record.key);
    } else if (gone != gone_at_.end() && gone->second < moment.sent_ns) {
      return fmt::format("K3: offset {} was gone and is back", offset);
    }
  }
  return {};
}

}  // namespace weir::simtest
