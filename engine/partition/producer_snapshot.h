#pragma once
// producers.snapshot to the byte: the producers of a partition up to an offset, the leader epochs
// of the log beside it, and its aborted transactions. All integers little-endian.
//
//   header, 32     magic u64 "WEIRSNP3" | checksum of bytes 0 to 7 and 12 to the end u32 |
//                  producers u32 | next offset i64 | epochs u32 | aborted transactions u32
//   producer, 208  id i64 | epoch i16 | batches u8 | 0 u8 | coordinator epoch i32 | last append
//                  (wall clock, ms) i64 | first offset of the open transaction i64 | expected
//                  sequence i32 | 0 u32 | last timestamp i64 | 5 x batch, 32 bytes: first sequence
//                  i32, last sequence i32, base offset i64, last offset i64, timestamp i64;
//                  without a batch the first slot's last offset is the one behind its last batch of
//                  records, 0: not known
//   epoch, 16      epoch i32 | 0 u32 | start offset i64
//   aborted, 32    producer id i64 | first offset i64 | last offset i64 | stable offset i64
//
// Version 2 ("WEIRSNP2") has zeros in the slots of a producer without a batch, and a checksum
// without the magic.
// Version 1 ("WEIRSNP1") has producers of 192 bytes: without the fields from byte 32 to 47, and
// with zeros where coordinator epoch and first offset are; and no aborted transactions.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/producer_state.h"
#include "io/base/fifo.h"

namespace weir::partition {

struct SnapshotContent {
  model::Offset next_offset;
  std::span<const ProducerEntry* const> producers;  // ascending by id
  std::span<const log::EpochStart> epochs;
  const base::Fifo<TransactionIndex::Aborted>& aborted;
};

struct DecodedSnapshot {
  model::Offset next_offset;
  std::vector<ProducerEntry> producers;
  std::vector<log::EpochStart> epochs;
  std::vector<TransactionIndex::Aborted> aborted;
};

std::vector<std::byte> encode_snapshot(const SnapshotContent& content);
// False: damaged; `out` is then unspecified. Bytes behind the end are ignored: a file written over
// a longer one keeps the longer one's end.
[[nodiscard]] bool decode_snapshot(std::span<const std::byte> bytes, DecodedSnapshot& out);

}  // namespace weir::partition
