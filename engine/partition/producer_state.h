#pragma once
// ProducerState: what one partition remembers of its producers, so that a retry is recognised, a
// gap is refused and a transaction has a beginning and an end (KIP-98, KIP-890; SCOPE 7). Rebuilt
// at start from a snapshot and the batches behind it. Owned by the partition on its home core.
//
// A marker ends the producer's transaction and takes its batches out of the window: retries are
// recognised within one epoch and one transaction only.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/log/log.h"
#include "engine/log/record_batch.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "engine/partition/transaction_index.h"
#include "io/clock.h"

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

// What the sender of a batch says of it besides its bytes.
struct BatchOrigin {
  uint64_t transaction = 0;           // its number at the coordinator; 0: not known
  bool unknown_starts_at_0 = false;   // an unknown producer must begin with sequence 0 (KIP-890)
  bool only_if_open = false;          // a marker without an open transaction is not written
};

struct ProducerEntry {
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch epoch{-1};     // -1: nothing was written, only `ended_transaction` counts
  std::array<ProducerBatch, kBatchesRemembered> batches{};  // oldest first
  uint8_t batch_count = 0;
  // With no batch yet: what its first one must begin with.
  model::Sequence expected{0};
  int64_t last_append_ms = 0;         // wall clock of the last append: not of its records
  int64_t last_timestamp = -1;        // of its last batch or marker
  int32_t coordinator_epoch = -1;     // of its last marker; -1: none
  model::Offset transaction_first_offset = model::kNoOffset;  // of the open one
  // Where its last batch with a sequence ends, in this epoch; kNoOffset: none, or not known.
  // Outlives the window: compaction keeps that batch, if without its records.
  model::Offset last_data_offset = model::kNoOffset;
  // The newest that was ended here during this run: whatever of it is still under way comes too
  // late.
  uint64_t ended_transaction = 0;
  // As expire() last saw it, and since when: no clock that jumps makes a producer older.
  int64_t seen_append_ms = INT64_MIN;
  model::Offset seen_data_offset = model::kNoOffset;
  io::Instant unchanged_since{};

  bool is_known() const { return epoch.value() >= 0; }
  bool in_transaction() const { return transaction_first_offset != model::kNoOffset; }
  // -1: none of this epoch.
  model::Sequence last_sequence() const;

  const ProducerBatch& last() const { return batches[batch_count - 1u]; }
};

class ProducerState {
 public:
  struct Verdict {
    model::ErrorCode error = model::ErrorCode::none;
    const ProducerBatch* duplicate = nullptr;  // the batch is here already, as this one
    bool nothing_to_end = false;               // a marker that need not be written
  };

  // Whether a batch with a producer id, or a marker, may be appended. Checks of SCOPE 7 in their
  // order.
  Verdict check(const log::BatchView& batch, const BatchOrigin& origin = {}) const;
  // The batch has been placed at base_offset.
  void append(const log::BatchView& batch, model::Offset base_offset, int64_t now_ms,
              const BatchOrigin& origin = {});
  // A marker was not written because there was nothing to end: what is still under way of the
  // transaction comes too late all the same.
  void note_ended(model::ProducerId producer_id, uint64_t transaction, int64_t now_ms);
  // The batch was refused for lack of room and will be sent again. An unknown producer may start
  // anywhere, so its next batch, already under way, would take this one's place for good.
  void refuse(const log::BatchView& batch, int64_t now_ms);

  // Open and aborted transactions.
  TransactionIndex& transactions() { return transactions_; }
  const TransactionIndex& transactions() const { return transactions_; }

  // Forgets producers that appended nothing for `age_ns`, as far as repeated calls can see; never
  // one with an open transaction.
  size_t expire(io::Instant now, int64_t age_ns);
  // Keeps the table bounded: forgets the producer idle for longest when there are more than
  // `count_max`, but none with an open transaction.
  void limit(size_t count_max);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const std::unordered_map<model::ProducerId, ProducerEntry>& entries() const { return entries_; }

  // producers.snapshot: everything up to next_offset, and the leader epochs of the log beside it.
  // Version 1, written before there were transactions, is read too.
  // decode: false when damaged, then nothing changed.
  std::vector<std::byte> encode(model::Offset next_offset,
                                std::span<const log::EpochStart> epochs) const;
  bool decode(std::span<const std::byte> bytes, model::Offset& next_offset,
              std::vector<log::EpochStart>& epochs);

 private:
  Verdict check_marker(const log::BatchView& batch, const ProducerEntry* entry,
                       const BatchOrigin& origin) const;
  void end_transaction(ProducerEntry& entry, const log::BatchView& batch, model::Offset offset);

  std::unordered_map<model::ProducerId, ProducerEntry> entries_;
  TransactionIndex transactions_;
};

// The sequence behind `sequence`: after 2^31 - 1 comes 0.
model::Sequence next_sequence(model::Sequence sequence);

}  // namespace weir::partition
