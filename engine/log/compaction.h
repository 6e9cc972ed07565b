#pragma once
// Compaction: which records of a log stay, batch by batch (Cleaner, MemoryRecords.filterTo,
// KIP-534). One pass knows the last offset of every key up to mapped_end; below that a record stays
// when it is the last of its key and no delete marker past its time. Offsets never change, and
// what a batch says of its producer does not either.
//
//   aborted records      go at once
//   records without key  go
//   delete markers       (null value) stay until the delete horizon that the first pass over them
//                        wrote into their batch: base timestamp, attribute bit 6
//   transaction markers  the same, from the first pass that finds no batch of the transaction; that
//                        of an aborted one never in a pass whose input names the transaction
//   empty batches        go, unless they hold the last sequence of a producer that may go on, or
//                        end the range that is written: these stay with a record count of 0
//
// Pure: bytes in, bytes out. One core, one pass at a time; memory for the records of one batch,
// inflated (Inflater::kSizeMax at most), and for the sets of one pass.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/log/deflater.h"
#include "engine/log/inflater.h"
#include "engine/log/offset_map.h"
#include "engine/log/record_batch.h"

namespace weir::log {

struct AbortedRange {
  model::ProducerId producer_id = model::kNoProducerId;
  model::Offset first_offset;
  model::Offset marker_offset;
};

// A producer that may go on: where what is known of it lies.
struct ActiveProducer {
  model::Offset last_data_offset = model::kNoOffset;  // kNoOffset: its last marker says it
  model::ProducerEpoch epoch{-1};
};

struct CompactionRules {
  int64_t now_ms = 0;
  int64_t delete_retention_ms = 0;
};

// What the pass knows beforehand.
struct CompactionInput {
  CompactionRules rules;
  model::Offset map_from;  // records below it are clean already
  std::vector<AbortedRange> aborted;
  std::unordered_map<model::ProducerId, ActiveProducer> producers;
};

class Compaction {
 public:
  struct Counts {
    uint64_t records_read = 0;
    uint64_t records_removed = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
  };

  Compaction() = default;
  Compaction(const Compaction&) = delete;

  void begin(CompactionInput input, const base::SipKey& secret, uint64_t keys_wanted,
             size_t memory_max);
  void end();  // gives memory back

  // First pass, over the dirty part, in order. False: the map is full; mapped_end() says how far it
  // is complete.
  bool map(std::span<const std::byte> batch);
  // Below it the map has every record. Before the first batch: map_from.
  model::Offset mapped_end() const { return mapped_end_; }
  const OffsetMap& newest() const { return newest_; }

  // Second pass, from the start of the log on, in order. The batch as it stays; empty: it goes.
  // Valid until the next call, or as long as `batch`.
  std::span<const std::byte> filter(std::span<const std::byte> batch, bool ends_range);
  const Counts& counts() const { return counts_; }
  // Markers of aborted transactions that have no batch any more, found by filter(): nobody needs to
  // be told of these transactions.
  std::vector<model::Offset>& void_markers() { return void_markers_; }

 private:
  struct Kept {
    std::span<const std::byte> bytes;  // with its length
    std::span<const std::byte> rest;   // behind its timestamp
    std::byte attributes;
    int64_t timestamp;
  };

  bool load_records(const BatchView& batch);
  bool is_aborted(const BatchView& batch) const;
  bool is_indexed(const BatchView& marker) const;
  bool holds_producer(const BatchView& batch) const;
  bool keeps(const Record& record, model::Offset offset, bool horizon_passed) const;
  bool horizon_passed(const BatchView& batch) const;
  int64_t new_horizon() const;
  std::span<const std::byte> filter_control(const BatchView& batch, bool ends_range);
  std::span<const std::byte> filter_data(const BatchView& batch, bool ends_range);
  std::span<const std::byte> without_records(const BatchView& batch, bool stays);
  std::span<const std::byte> rewrite(const BatchView& batch, bool new_horizon);
  void deflate(const BatchView& batch, std::span<const std::byte> records);

  CompactionInput input_;
  OffsetMap newest_;
  model::Offset mapped_end_;
  // Producers of whose transaction under way a batch was seen.
  std::unordered_set<model::ProducerId> in_transaction_;
  std::vector<model::Offset> void_markers_;
  Counts counts_;

  Inflater inflater_;
  Deflater deflater_;
  std::vector<std::byte> raw_;           // inflated, of the batch at hand
  std::span<const std::byte> records_;   // of the batch at hand, in raw_ or in the batch
  std::vector<Kept> kept_;
  std::vector<std::byte> rebuilt_;       // records of a batch that is rewritten
  std::vector<std::byte> out_;
};

}  // namespace weir::log
