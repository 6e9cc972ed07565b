#pragma once
// What other cores (and the handlers of the own core) ask of a partition's home core. Each request
// is a message owned by its sender: fill the inputs, send it to the home core's port, read the
// outputs when it comes back. Memory that a request points to stays untouched by the sender
// meanwhile.

#include <cstdint>
#include <span>

#include "engine/log/transaction_marker.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "engine/partition/producer_state.h"
#include "io/base/arena.h"
#include "io/disk.h"
#include "io/mailbox.h"

namespace weir::partition {

// Appends one record batch (magic 2), checked by log/batch_validator on the sending core, which
// also set timestamps and CRC; the partition sets base offset and leader epoch in its own copy.
class AppendRequest : public io::Message {
 public:
  // in
  model::PartitionKey key;
  std::span<const std::byte> batch;
  BatchOrigin origin;  // of transactional batches: what the coordinator said
  // out, once the batch is on stable storage
  model::ErrorCode error = model::ErrorCode::none;
  model::Offset base_offset = model::kNoOffset;
  int64_t log_append_time_ms = -1;  // of a duplicate: the timestamp stored then (SCOPE 6)
  model::Offset log_start_offset = model::kNoOffset;
  bool outcome_unknown = false;     // the device failed: close the connection (RELIABILITY 2.5)
};

// Ends a producer's transaction in one partition with a marker (KIP-98), to port kWriteMarker; of
// partitions of __consumer_offsets to port kGroupMarker. The home core makes the batch. Answered
// like any append; a marker that finds nothing to end may be left out (origin.only_if_open) and has
// base_offset kNoOffset then.
class MarkerRequest : public AppendRequest {
 public:
  // in, besides key and origin
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch producer_epoch{-1};
  log::TransactionMarker marker;

  log::MarkerBatch bytes;  // the home core's own: what `batch` views
};

// One partition of a read.
struct ReadItem {
  // in
  model::PartitionKey key;
  model::Offset fetch_offset;
  uint32_t size_max = 0;               // bytes of this partition
  int32_t current_leader_epoch = -1;   // -1: not checked
  int32_t last_fetched_epoch = -1;
  bool read_committed = false;
  // out
  model::ErrorCode error = model::ErrorCode::none;
  model::Offset high_watermark = model::kNoOffset;
  model::Offset last_stable_offset = model::kNoOffset;
  model::Offset log_start_offset = model::kNoOffset;
  int32_t diverging_epoch = -1;        // >= 0: the fetcher's log diverges, see diverging_end_offset
  model::Offset diverging_end_offset = model::kNoOffset;
  // Whole batches, the first containing fetch_offset; valid until the request is sent to
  // kReleaseRead.
  std::span<const io::Slice> pieces;
  size_t size = 0;
  // read_committed: aborted transactions that touch what was read, by first offset; valid as long
  // as the pieces.
  std::span<const AbortedTransaction> aborted;
};

// Reads several partitions of one home core, in the order given. Until one has given data, the
// first batch comes whole even if larger than the limits (KIP-74); later ones respect what is left
// of size_max. Answers at once with what is durable; never waits for new data. Afterwards the same
// object must be sent to kReleaseRead exactly once, when its pieces are no longer needed; it comes
// back and is then free.
class ReadRequest : public io::Message {
 public:
  std::span<ReadItem> items;
  uint64_t size_max = 0;
  bool first_batch_whole = true;  // false: an earlier read of the same fetch gave data already
  void* lease = nullptr;          // the home core's own, between reply and release
};

// One partition of a watch: anything at or past `seen_offset`'s state counts as news.
struct WatchItem {
  model::PartitionKey key;
  model::Offset fetch_offset;   // where the fetch will read
  uint32_t size_max = 0;        // at most this many bytes of the partition count
  bool read_committed = false;  // only what lies below the last stable offset counts
};

// Comes back when at least size_min bytes can be read in the watched partitions together, or one of
// them would now answer with an error (deleted, log start moved past the offset), or it was
// cancelled.
class WatchRequest : public io::Message {
 public:
  std::span<const WatchItem> items;
  uint64_t size_min = 1;
  void* registration = nullptr;  // the home core's own
};

// Makes a WatchRequest come back at once; may cross its answer on the way, which is harmless: both
// come back exactly once, the watch first.
class CancelWatch : public io::Message {
 public:
  WatchRequest* watch = nullptr;
};

// ListOffsets of one partition (SCOPE 12). timestamp: >= 0 or one of the special values of the
// protocol.
class OffsetsRequest : public io::Message {
 public:
  // in
  model::PartitionKey key;
  int64_t timestamp = -1;
  int32_t current_leader_epoch = -1;
  bool read_committed = false;
  // out
  model::ErrorCode error = model::ErrorCode::none;
  model::Offset offset = model::kNoOffset;
  int64_t found_timestamp = -1;
  int32_t leader_epoch = -1;
};

// DeleteRecords of one partition (SCOPE 20.1): comes back when the new log start is durable.
class DeleteRecordsRequest : public io::Message {
 public:
  // in
  model::PartitionKey key;
  model::Offset offset;  // the new log start; kNoOffset: the high watermark
  // out
  model::ErrorCode error = model::ErrorCode::none;
  model::Offset low_watermark = model::kNoOffset;  // the log start now
};

// One producer of a partition, as DescribeProducers shows it (KIP-664).
struct ProducerInfo {
  model::ProducerId producer_id = model::kNoProducerId;
  int32_t epoch = -1;
  int32_t last_sequence = -1;
  int64_t last_timestamp = -1;
  int32_t coordinator_epoch = -1;
  int64_t transaction_first_offset = -1;
};

// The producers that a partition knows, to port kDescribeProducers. While it is away the home core
// owns the arena and places the answer in it.
class ProducersRequest : public io::Message {
 public:
  // in
  model::PartitionKey key;
  base::Arena* arena = nullptr;
  // out
  model::ErrorCode error = model::ErrorCode::none;
  std::span<const ProducerInfo> producers;  // ascending by id
};

// OffsetForLeaderEpoch of one partition (KIP-101, KIP-320).
class EpochEndRequest : public io::Message {
 public:
  // in
  model::PartitionKey key;
  int32_t current_leader_epoch = -1;
  int32_t leader_epoch = -1;
  // out
  model::ErrorCode error = model::ErrorCode::none;
  int32_t found_epoch = -1;
  model::Offset end_offset = model::kNoOffset;
};

// How many bytes some partitions of one home core have on disk, or will have once what is in memory
// and journal is moved to their segments. DescribeLogDirs.
struct LogSizeItem {
  model::PartitionKey key;
  int64_t size_bytes = -1;  // out; -1: not here
};
class LogSizesRequest : public io::Message {
 public:
  std::span<LogSizeItem> items;
};

}  // namespace weir::partition
