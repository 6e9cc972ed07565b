#include "tests/sim/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weir::simtest {

std::string describe(const Batch& batch) {
  return fmt::format("batch {} of {} ({} records, producer {} epoch {} sequence {}, {})", batch.id,
                     to_string(batch.where), batch.records.size(), batch.stamp.producer_id,
                     batch.stamp.epoch, batch.stamp.base_sequence,
                     batch.acked_at != 0 ? fmt::format("acked at offset {}", batch.acked_offset)
                     : batch.open_attempts > 0 ? "outcome unknown"
                                               : "refused or never sent");
}

Batch& Model::add_batch(const TopicPartition& where, const ProducerStamp& stamp,
                        std::vector<Record> records) {
  auto batch = std::make_unique<Batch>();
  batch->id = batches_.size() + 1;
  batch->where = where;
  batch->stamp = stamp;
  records.front().key = fmt::format("{}", batch->id);
  batch->records = std::move(records);
  batch->bytes = encode_batch(stamp, batch->records);
  batches_.push_back(std::move(batch));
  return *batches_.back();
}

const Batch* Model::find(uint64_t id) const {
  return id == 0 || id > batches_.size() ? nullptr : batches_[id - 1].get();
}

void Model::sent(Batch& batch, int64_t now_ns) {
  if (batch.first_sent == 0) {
    batch.first_sent = tick();
    batch.first_sent_ns = now_ns;
  }
  ++batch.open_attempts;
}

void Model::acked(Batch& batch, int64_t offset) {
  if (batch.acked_at != 0 && batch.idempotent() && batch.acked_offset != offset) {
    findings_.report(fmt::format("I13: {} was acknowledged again, at offset {}", describe(batch),
                                 offset));
  }
  if (offset < 0) {
    findings_.report(fmt::format("I1: {} was acknowledged at offset {}", describe(batch), offset));
  }
  if (batch.acked_at == 0) {
    batch.acked_at = tick();
    batch.acked_offset = offset;
    ++acked_count_;
  }
  Partition& partition = partitions_[batch.where];
  const int64_t end = offset + static_cast<int64_t>(batch.records.size());
  partition.durable_floor = std::max(partition.durable_floor, end);
}

void Model::refused(Batch& batch) { --batch.open_attempts; }

void Model::observed(const TopicPartition& where, const BatchView& view) {
  ++observed_count_;
  const auto place = [&] {
    return fmt::format("{} at offset {}", to_string(where), view.base_offset);
  };
  uint64_t id = 0;
  std::from_chars(view.first_key.data(), view.first_key.data() + view.first_key.size(), id);
  const Batch* batch = find(id);
  const bool as_sent = batch != nullptr && same_sealed(batch->bytes, view);  // checksum and all
  if (!as_sent && !view.checksum_matches()) {
    return findings_.report("I2: bad checksum read in " + place());
  }
  if (batch == nullptr) return findings_.report("I2: a batch that nobody sent in " + place());
  if (batch->where != where) {
    return findings_.report(fmt::format("I2: {} read in {}", describe(*batch), place()));
  }
  if (!batch->possible()) {
    return findings_.report(fmt::format("I2: {} read in {}", describe(*batch), place()));
  }
  if (!as_sent) {
    return findings_.report(fmt::format("I1: {} read in {} with other bytes", describe(*batch),
                                        place()));
  }
  if (view.record_count != static_cast<int32_t>(batch->records.size()) ||
      view.last_offset_delta != view.record_count - 1) {
    return findings_.report("I6: record count and offsets disagree in " + place());
  }
  if (batch->idempotent() && batch->acked_at != 0 && batch->acked_offset != view.base_offset) {
    return findings_.report(fmt::format("I4: {} read in {}", describe(*batch), place()));
  }
  Partition& partition = partitions_[where];
  const auto [entry, fresh] = partition.observed.emplace(view.base_offset, id);
  if (!fresh && entry->second != id) {
    findings_.report(fmt::format("I3: {} read in {}, where batch {} was read before",
                                 describe(*batch), place(), entry->second));
  }
  partition.durable_floor = std::max(partition.durable_floor, view.next_offset());
}

void Model::saw_log_start(const TopicPartition& where, const Floors& at_send,
                          int64_t log_start) {
  if (log_start < at_send.log_start) {
    findings_.report(fmt::format("I7: {}: log start {}, but it was {}", to_string(where),
                                 log_start, at_send.log_start));
  }
  int64_t& floor = partitions_[where].log_start_floor;
  floor = std::max(floor, log_start);
}

void Model::cut_sent(const TopicPartition& where, int64_t offset) {
  int64_t& bound = partitions_[where].cut_bound;
  bound = offset < 0 ? INT64_MAX : std::max(bound, offset);
}

void Model::saw_offsets(const TopicPartition& where, const Floors& at_send, int64_t log_start,
                        int64_t last_stable, int64_t high_watermark) {
  saw_log_start(where, at_send, log_start);
  Partition& partition = partitions_[where];
  if (log_start > last_stable || last_stable > high_watermark) {
    findings_.report(fmt::format("I7: {}: log start {}, last stable {}, high watermark {}",
                                 to_string(where), log_start, last_stable, high_watermark));
  }
  if (high_watermark < at_send.durable) {
    findings_.report(fmt::format("I7: {}: high watermark {}, but {} was durable", to_string(where),
                                 high_watermark, at_send.durable));
  }
  partition.durable_floor = std::max(partition.durable_floor, high_watermark);
}

void Model::commit_sent(const std::string& group, const TopicPartition& where, int64_t value) {
  groups_[{group, where}].unknown[value] = incarnation_;
}

void Model::commit_acked(const std::string& group, const TopicPartition& where, int64_t value) {
  GroupOffset& offset = groups_[{group, where}];
  offset.settled = value;
  offset.unknown.erase(value);
}

void Model::commit_refused(const std::string& group, const TopicPartition& where, int64_t value) {
  groups_[{group, where}].unknown.erase(value);
}

void Model::commit_read(const std::string& group, const TopicPartition& where, int64_t value) {
  GroupOffset& offset = groups_[{group, where}];
  if (value != offset.settled && !offset.unknown.contains(value)) {
    return findings_.report(fmt::format("I10: group {} of {}: offset {} read, {} was committed",
                                        group, to_string(where), value, offset.settled));
  }
  // Read implies durable; what earlier processes had not decided by now never will be.
  offset.settled = value;
  std::erase_if(offset.unknown, [&](const auto& entry) { return entry.second < incarnation_; });
}

}  // namespace weir::simtest
