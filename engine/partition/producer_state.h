#pragma once
// ProducerState: what one partition remembers of its idempotent producers, so that a retry is
// recognised and a gap is refused (KIP-98; SCOPE 7). Rebuilt at start from a snapshot and the
// batches behind it. Owned by the partition on its home core.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/log/log.h"
#include "engine/log/record_batch.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"

namespace weir::partition {

// Batches remembered per producer; a client has at most as many requests in flight.
inline constexpr size_t kBatchesRemembered = 5;

struct ProducerBatch {
  model::Sequence first_sequence;
  model::Sequence last_sequence;
  model::Offset base_offset;
  model::Offset last_offset;
  int64_t timestamp = -1;
};

struct ProducerEntry {
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch epoch{-1};
  std::array<ProducerBatch, kBatchesRemembered> batches{};  // oldest first
  uint8_t batch_count = 0;
  // With no batch yet: what its first one must begin with.
  model::Sequence expected{0};
  // wall clock of the last append: expiry goes by it, not by record times
  int64_t last_append_ms = 0;

  const ProducerBatch& last() const { return batches[batch_count - 1u]; }
};

class ProducerState {
 public:
  struct Verdict {
    model::ErrorCode error = model::ErrorCode::none;
    const ProducerBatch* duplicate = nullptr;  // the batch is here already, as this one
  };

  // Whether a batch with a producer id may be appended. Checks of SCOPE 7 in their order.
  Verdict check(const log::BatchView& batch) const;
  // The batch has been placed at base_offset.
  void append(const log::BatchView& batch, model::Offset base_offset, int64_t now_ms);
  // The batch was refused for lack of room and will be sent again. An unknown producer may start
  // anywhere, so its next batch, already under way, would take this one's place for good.
  void refuse(const log::BatchView& batch, int64_t now_ms);

  // Forgets producers that appended nothing for `age_ms`.
  size_t expire(int64_t now_ms, int64_t age_ms);
  // Keeps the table bounded: forgets the producer idle for longest when there are more than
  // `count_max`.
  void limit(size_t count_max);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const std::unordered_map<model::ProducerId, ProducerEntry>& entries() const { return entries_; }

  // producers.snapshot: everything up to next_offset, and the leader epochs of the log beside it.
  // decode: false when damaged, then nothing changed.
  std::vector<std::byte> encode(model::Offset next_offset,
                                std::span<const log::EpochStart> epochs) const;
  bool decode(std::span<const std::byte> bytes, model::Offset& next_offset,
              std::vector<log::EpochStart>& epochs);

 private:
  std::unordered_map<model::ProducerId, ProducerEntry> entries_;
};

// The sequence behind `sequence`: after 2^31 - 1 comes 0.
model::Sequence next_sequence(model::Sequence sequence);

}  // namespace weir::partition
