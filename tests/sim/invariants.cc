#include "tests/sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace weir::simtest {
namespace {

using Entries = std::vector<Content::Entry>;

int64_t end_of(const Batch& batch, int64_t base_offset) {
  return base_offset + static_cast<int64_t>(batch.records.size());
}

void check_acked_are_there(const Model& model, const TopicPartition& where, const Content& content,
                           const std::map<int64_t, uint64_t>& by_offset, Findings& findings) {
  for (const auto& batch : model.batches()) {
    if (batch->where != where || batch->acked_at == 0) continue;
    if (content.in_gap(std::max(batch->acked_offset, content.log_start_offset))) continue;
    if (end_of(*batch, batch->acked_offset) <= content.log_start_offset) continue;
    const auto found = by_offset.find(batch->acked_offset);
    if (found == by_offset.end() || found->second != batch->id) {
      findings.report(fmt::format("I1: {} is lost: {} there", describe(*batch),
                                  found == by_offset.end()
                                      ? "nothing begins"
                                      : fmt::format("batch {} is", found->second)));
    }
  }
}

void check_read_are_there(const Model& model, const TopicPartition& where,
                          const Content& content, const std::map<int64_t, uint64_t>& by_offset,
                          Findings& findings) {
  const auto partition = model.partitions().find(where);
  if (partition == model.partitions().end()) return;
  for (const auto& [offset, id] : partition->second.observed) {
    if (content.in_gap(std::max(offset, content.log_start_offset))) continue;
    if (end_of(*model.find(id), offset) <= content.log_start_offset) continue;
    const auto found = by_offset.find(offset);
    if (found == by_offset.end() || found->second != id) {
      findings.report(fmt::format("I3: batch {} was read at offset {} of {} and is gone", id,
                                  offset, to_string(where)));
    }
  }
}

void check_counts(const Model& model, const Entries& entries, Findings& findings) {
  std::map<uint64_t, uint32_t> counts;
  for (const auto& entry : entries) ++counts[entry.batch_id];
  for (const auto& [id, count] : counts) {
    const Batch& batch = *model.find(id);
    const uint32_t most = batch.idempotent() ? 1 : batch.open_attempts;
    if (count > most) {
      findings.report(fmt::format("{}: {} is there {} times", batch.idempotent() ? "I4" : "I2",
                                  describe(batch), count));
    }
  }
}

// I4: sequences of one producer follow one another in the order of offsets.
void check_sequences(const Model& model, const Content& content, Findings& findings) {
  std::map<int64_t, const Batch*> last;
  for (const auto& entry : content.entries) {
    const Batch* batch = model.find(entry.batch_id);
    if (!batch->idempotent()) continue;
    const Batch* before = std::exchange(last[batch->stamp.producer_id], batch);
    if (before == nullptr && content.log_start_offset > 0) continue;  // what came before is deleted
    const int64_t expected =
        before == nullptr
            ? 0
            : before->stamp.base_sequence + static_cast<int64_t>(before->records.size());
    if (batch->stamp.base_sequence != expected) {
      findings.report(fmt::format("I4: {} at offset {}: sequence {} was due", describe(*batch),
                                  entry.base_offset, expected));
    }
  }
}

// I5: acknowledged before the other was first sent => the smaller offset.
void check_order(const Model& model, const Entries& entries, Findings& findings) {
  const Batch* latest_sent = nullptr;  // among those with smaller offsets
  for (const auto& entry : entries) {
    const Batch* batch = model.find(entry.batch_id);
    const bool acked_here = batch->acked_at != 0 && batch->acked_offset == entry.base_offset;
    if (acked_here && latest_sent != nullptr && latest_sent->first_sent > batch->acked_at) {
      findings.report(fmt::format("I5: {} lies before {}, which was acknowledged earlier",
                                  describe(*latest_sent), describe(*batch)));
    }
    if (latest_sent == nullptr || batch->first_sent > latest_sent->first_sent) latest_sent = batch;
  }
}

}  // namespace

bool Content::in_gap(int64_t offset) const {
  return std::ranges::any_of(gaps, [&](const auto& gap) {
    return offset >= gap.first && offset < gap.second;
  });
}

void check_partition(const Model& model, const TopicPartition& where, const Content& content,
                     Findings& findings) {
  std::map<int64_t, uint64_t> by_offset;
  for (const auto& entry : content.entries) {
    by_offset[entry.base_offset] = entry.batch_id;
    if (model.find(entry.batch_id) == nullptr) return;  // reported when it was read
  }
  check_acked_are_there(model, where, content, by_offset, findings);
  check_read_are_there(model, where, content, by_offset, findings);
  check_counts(model, content.entries, findings);
  if (content.gaps.empty()) check_sequences(model, content, findings);
  check_order(model, content.entries, findings);
}

OffsetResult first_at_or_after(const Model& model, const Content& content, int64_t timestamp) {
  for (const auto& entry : content.entries) {
    const Batch* batch = model.find(entry.batch_id);
    for (size_t i = 0; i < batch->records.size(); ++i) {
      const int64_t record_timestamp = batch->records[i].timestamp;
      const int64_t offset = entry.base_offset + static_cast<int64_t>(i);
      if (record_timestamp >= timestamp && offset >= content.log_start_offset) {
        return {0, record_timestamp, offset};
      }
    }
  }
  return {0, -1, -1};
}

// Whether a batch may be gone by its age. One without a time is as old as what lies around it.
bool is_old(const Batch& batch, int64_t age_ms, const ClockWatch& clock) {
  if (age_ms < 0) return false;
  int64_t newest = -1;
  for (const Record& record : batch.records) newest = std::max(newest, record.timestamp);
  return newest < 0 || clock.age_most_ms(batch.first_sent_ns, newest) > age_ms;
}

// At most so many bytes of the partition ever lay at or behind an offset.
int64_t most_behind(const Model& model, const TopicPartition& where, int64_t offset) {
  std::map<int64_t, uint64_t> by_offset = model.partitions().at(where).observed;
  size_t bytes = 0;
  std::set<uint64_t> placed;
  for (const auto& batch : model.batches()) {
    if (batch->where == where && batch->acked_at != 0) by_offset[batch->acked_offset] = batch->id;
  }
  for (const auto& [at, id] : by_offset) {
    if (at >= offset) bytes += model.find(id)->bytes.size();
    placed.insert(id);
  }
  // Those of unknown outcome may lie there, as often as they were sent.
  for (const auto& batch : model.batches()) {
    if (batch->where != where || placed.contains(batch->id)) continue;
    bytes += batch->bytes.size() * batch->open_attempts;
  }
  return static_cast<int64_t>(bytes);
}

void check_deleted(const Model& model, const TopicPartition& where, int64_t start,
                   const ClockWatch& clock, Findings& findings) {
  const auto partition = model.partitions().find(where);
  if (partition == model.partitions().end()) return;
  const int64_t asked = partition->second.cut_bound;
  if (start <= asked) return;
  const Retention retention = model.retention(where.topic);
  const auto check = [&](const Batch& batch, int64_t offset) {
    const int64_t end = end_of(batch, offset);
    if (end <= asked || end > start || is_old(batch, retention.age_ms, clock)) return;
    // By size it goes only while enough is behind it, some of which may have gone by age since.
    if (retention.size_bytes >= 0 && most_behind(model, where, end) >= retention.size_bytes) return;
    findings.report(fmt::format("I7: {} at offset {} is deleted, log start {}, asked for {}",
                                describe(batch), offset, start, asked));
  };
  for (const auto& [offset, id] : partition->second.observed) check(*model.find(id), offset);
  for (const auto& batch : model.batches()) {
    if (batch->where == where && batch->acked_at != 0) check(*batch, batch->acked_offset);
  }
}

// Without what retention took meanwhile.
bool same_but_for_start(const Content& first, const Content& second) {
  if (second.log_start_offset < first.log_start_offset || first.end_offset != second.end_offset) {
    return false;
  }
  const size_t gone = first.entries.size() - std::min(first.entries.size(), second.entries.size());
  return std::ranges::equal(std::span(first.entries).subspan(gone), second.entries);
}

void check_same(const Model& model, const Contents& first, const Contents& second,
                Findings& findings) {
  for (const auto& [where, content] : first) {
    const auto other = second.find(where);
    const bool may_move = model.retention(where.topic).any();
    const bool same = other != second.end() &&
                      (may_move ? same_but_for_start(content, other->second)
                                : other->second == content);
    if (!same) {
      findings.report(fmt::format(
          "I18: {} had {} batches up to offset {} after recovery, and {} up to {} after another",
          to_string(where), content.entries.size(), content.end_offset,
          other == second.end() ? 0 : other->second.entries.size(),
          other == second.end() ? -1 : other->second.end_offset));
    }
  }
}

}  // namespace weir::simtest
