#pragma once
// Record batches of format 2, as they lie on the wire and in segments:
//
//   position  size  field
//          0     8  base offset              set by the partition
//          8     4  batch length             bytes after this field: total size - 12
//         12     4  partition leader epoch   set by the partition; not under the CRC
//         16     1  magic = 2
//         17     4  crc                      CRC-32C of everything from attributes on
//         21     2  attributes               bits 0-2 compression, 3 append time, 4 transactional,
//                                            5 control, 6 delete horizon
//         23     4  last offset delta
//         27     8  base timestamp
//         35     8  max timestamp
//         43     8  producer id              -1: none
//         51     2  producer epoch
//         53     4  base sequence
//         57     4  record count
//         61     …  records                  one compressed block when compressed
//
//   record: length varint | attributes i8 | timestamp delta varlong | offset delta varint |
//           key length varint (-1 null) | key | value length varint (-1 null) | value |
//           header count varint | { key length varint | key | value length varint (-1) | value }*

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/ids.h"
#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::log {

inline constexpr size_t kBatchHeaderSize = 61;
// What precedes the bytes that the batch length counts.
inline constexpr size_t kBatchLengthEnd = 12;
inline constexpr size_t kBatchCrcStart = 21;
inline constexpr int8_t kBatchMagic = 2;

namespace batch_position {
inline constexpr size_t kBaseOffset = 0;
inline constexpr size_t kLength = 8;
inline constexpr size_t kLeaderEpoch = 12;
inline constexpr size_t kMagic = 16;
inline constexpr size_t kCrc = 17;
inline constexpr size_t kAttributes = 21;
inline constexpr size_t kLastOffsetDelta = 23;
inline constexpr size_t kBaseTimestamp = 27;
inline constexpr size_t kMaxTimestamp = 35;
inline constexpr size_t kProducerId = 43;
inline constexpr size_t kProducerEpoch = 51;
inline constexpr size_t kBaseSequence = 53;
inline constexpr size_t kRecordCount = 57;
}  // namespace batch_position

namespace batch_attribute {
inline constexpr int16_t kCompressionMask = 0x07;
inline constexpr int16_t kAppendTime = 0x08;
inline constexpr int16_t kTransactional = 0x10;
inline constexpr int16_t kControl = 0x20;
inline constexpr int16_t kDeleteHorizon = 0x40;
}  // namespace batch_attribute

// Numbers of the format; 5 to 7 mean nothing yet.
enum class Compression : uint8_t { none, gzip, snappy, lz4, zstd };
inline constexpr uint8_t kCompressionMax = static_cast<uint8_t>(Compression::zstd);

// Reads the header of a batch that someone else owns; at least kBatchHeaderSize bytes must be
// there. Checks nothing: what the fields say is for the caller to believe or not.
class BatchView {
 public:
  explicit BatchView(std::span<const std::byte> bytes) : data_(bytes.data()) {
    ASSERT(bytes.size() >= kBatchHeaderSize);
  }

  model::Offset base_offset() const {
    return model::Offset(load<int64_t>(batch_position::kBaseOffset));
  }
  int32_t length() const { return load<int32_t>(batch_position::kLength); }
  // Of a batch whose length has been checked.
  size_t size() const { return kBatchLengthEnd + static_cast<size_t>(length()); }
  std::span<const std::byte> bytes() const { return {data_, size()}; }
  std::span<const std::byte> records() const { return bytes().subspan(kBatchHeaderSize); }
  int32_t leader_epoch() const { return load<int32_t>(batch_position::kLeaderEpoch); }
  int8_t magic() const { return load<int8_t>(batch_position::kMagic); }
  uint32_t crc() const { return load<uint32_t>(batch_position::kCrc); }
  int16_t attributes() const { return load<int16_t>(batch_position::kAttributes); }
  int32_t last_offset_delta() const { return load<int32_t>(batch_position::kLastOffsetDelta); }
  int64_t base_timestamp() const { return load<int64_t>(batch_position::kBaseTimestamp); }
  int64_t max_timestamp() const { return load<int64_t>(batch_position::kMaxTimestamp); }
  model::ProducerId producer_id() const {
    return model::ProducerId(load<int64_t>(batch_position::kProducerId));
  }
  model::ProducerEpoch producer_epoch() const {
    return model::ProducerEpoch(load<int16_t>(batch_position::kProducerEpoch));
  }
  model::Sequence base_sequence() const {
    return model::Sequence(load<int32_t>(batch_position::kBaseSequence));
  }
  int32_t record_count() const { return load<int32_t>(batch_position::kRecordCount); }

  model::Offset last_offset() const { return base_offset() + last_offset_delta(); }
  model::Offset next_offset() const { return last_offset() + 1; }
  // Compacted away records count.
  int64_t offset_count() const { return int64_t{last_offset_delta()} + 1; }
  // After 2^31 - 1 comes 0.
  model::Sequence last_sequence() const {
    return model::Sequence(static_cast<int32_t>(
        (static_cast<uint32_t>(base_sequence().value()) +
         static_cast<uint32_t>(last_offset_delta())) & 0x7fffffffu));
  }
  bool has_producer_id() const { return producer_id().value() >= 0; }
  bool is_append_time() const { return has(batch_attribute::kAppendTime); }
  bool is_transactional() const { return has(batch_attribute::kTransactional); }
  bool is_control() const { return has(batch_attribute::kControl); }
  bool has_delete_horizon() const { return has(batch_attribute::kDeleteHorizon); }
  uint8_t compression_bits() const {
    return static_cast<uint8_t>(attributes() & batch_attribute::kCompressionMask);
  }
  // Of a batch that passed validation.
  Compression compression() const { return static_cast<Compression>(compression_bits()); }

  // Of a batch whose length has been checked: what crc() should be.
  uint32_t computed_crc() const;

 private:
  template <class T>
  T load(size_t position) const { return base::load_be<T>(data_ + position); }
  bool has(int16_t attribute) const { return (attributes() & attribute) != 0; }

  const std::byte* data_;
};

// The two fields a partition sets when it places a batch; neither is under the CRC.
inline void set_base_offset(std::span<std::byte> batch, model::Offset offset) {
  base::store_be(batch.data() + batch_position::kBaseOffset, offset.value());
}
inline void set_leader_epoch(std::span<std::byte> batch, int32_t leader_epoch) {
  base::store_be(batch.data() + batch_position::kLeaderEpoch, leader_epoch);
}

// Whether `bytes` begin with a whole batch of format 2 whose length makes sense: for walking over
// segments and read results. Nothing about its CRC or content.
[[nodiscard]] bool starts_with_batch(std::span<const std::byte> bytes);

struct RecordHeader {
  std::string_view key;
  std::optional<std::span<const std::byte>> value;
};

// One record; views the bytes it was read from.
struct Record {
  int64_t timestamp_delta = 0;
  int32_t offset_delta = 0;
  std::optional<std::span<const std::byte>> key;
  std::optional<std::span<const std::byte>> value;
  int32_t header_count = 0;
  std::span<const std::byte> headers;  // for read_record_header()
};

// Takes one record off the front of uncompressed records. False: malformed or at the end; `bytes`
// are then unspecified. Every length is checked against the bytes that are there.
[[nodiscard]] bool read_record(std::span<const std::byte>& bytes, Record& record);
[[nodiscard]] bool read_record_header(std::span<const std::byte>& headers, RecordHeader& header);

struct BatchOptions {
  model::Offset base_offset{0};
  int32_t leader_epoch = -1;
  int64_t base_timestamp = 0;  // of the batch; records have their own
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch producer_epoch{-1};
  model::Sequence base_sequence{-1};
  bool transactional = false;
  bool control = false;
  bool append_time = false;
};

// Builds one uncompressed batch: internal topics, markers, tests. Offsets count from base_offset
// on. Reusable: reset() keeps the memory.
class BatchBuilder {
 public:
  using NullableBytes = std::optional<std::span<const std::byte>>;

  explicit BatchBuilder(const BatchOptions& options = {}) { reset(options); }
  void reset(const BatchOptions& options);

  void append(NullableBytes key, NullableBytes value, int64_t timestamp,
              std::span<const RecordHeader> headers = {});

  [[nodiscard]] int32_t record_count() const { return record_count_; }
  // What finish() would give now.
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  // The whole batch with its CRC; valid until the next append or reset. At least one record.
  [[nodiscard]] std::span<const std::byte> finish();

 private:
  BatchOptions options_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> record_;  // the record being built, without its length
  int32_t record_count_ = 0;
  int64_t max_timestamp_ = -1;
};

// The CRC and length fields of a batch assembled by other means (tests, compression).
void seal_batch(std::span<std::byte> batch);

}  // namespace weir::log
