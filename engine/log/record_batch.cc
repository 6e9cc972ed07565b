#include "engine/log/record_batch.h"

#include <algorithm>

#include "io/base/crc32c.h"
#include "io/base/varint.h"

namespace weir::log {

namespace {

using Bytes = std::span<const std::byte>;

bool read_varint(Bytes& bytes, int32_t& value) {
  const auto varint = base::load_varint32(bytes);
  value = varint.value;
  bytes = bytes.subspan(varint.size);
  return varint.size != 0;
}

bool read_varlong(Bytes& bytes, int64_t& value) {
  const auto varint = base::load_varint64(bytes);
  value = varint.value;
  bytes = bytes.subspan(varint.size);
  return varint.size != 0;
}

bool take(Bytes& bytes, int32_t size, Bytes& out) {
  if (size < 0 || static_cast<size_t>(size) > bytes.size()) return false;
  out = bytes.first(static_cast<size_t>(size));
  bytes = bytes.subspan(static_cast<size_t>(size));
  return true;
}

bool read_nullable(Bytes& bytes, std::optional<Bytes>& out) {
  int32_t size = 0;
  if (!read_varint(bytes, size)) return false;
  if (size == -1) {
    out = std::nullopt;
    return true;
  }
  Bytes taken;
  if (!take(bytes, size, taken)) return false;
  out = taken;
  return true;
}

void put_varint(std::vector<std::byte>& out, int32_t value) {
  std::byte encoded[base::kVarint32SizeMax];
  const size_t size = base::store_varint32(encoded, value);
  out.insert(out.end(), encoded, encoded + size);
}

void put_varlong(std::vector<std::byte>& out, int64_t value) {
  std::byte encoded[base::kVarint64SizeMax];
  const size_t size = base::store_varint64(encoded, value);
  out.insert(out.end(), encoded, encoded + size);
}

void put_nullable(std::vector<std::byte>& out, const std::optional<Bytes>& bytes) {
  put_varint(out, bytes ? static_cast<int32_t>(bytes->size()) : -1);
  if (bytes) out.insert(out.end(), bytes->begin(), bytes->end());
}

}  // namespace

uint32_t BatchView::computed_crc() const { return base::crc32c(bytes().subspan(kBatchCrcStart)); }

bool starts_with_batch(std::span<const std::byte> bytes) {
  if (bytes.size() < kBatchHeaderSize) return false;
  const BatchView batch(bytes);
  const int32_t length = batch.length();
  return batch.magic() == kBatchMagic &&
         length >= static_cast<int32_t>(kBatchHeaderSize - kBatchLengthEnd) &&
         static_cast<size_t>(length) <= bytes.size() - kBatchLengthEnd;
}

bool read_record(std::span<const std::byte>& bytes, Record& record) {
  int32_t length = 0;
  Bytes rest;
  if (!read_varint(bytes, length) || !take(bytes, length, rest)) return false;
  if (rest.empty()) return false;
  rest = rest.subspan(1);  // attributes: none are defined
  if (!read_varlong(rest, record.timestamp_delta) || !read_varint(rest, record.offset_delta) ||
      !read_nullable(rest, record.key) || !read_nullable(rest, record.value) ||
      !read_varint(rest, record.header_count) || record.header_count < 0) {
    return false;
  }
  record.headers = rest;
  RecordHeader header;
  for (int32_t i = 0; i < record.header_count; ++i) {
    if (!read_record_header(rest, header)) return false;
  }
  return rest.empty();
}

bool read_record_header(std::span<const std::byte>& headers, RecordHeader& header) {
  int32_t key_size = 0;
  Bytes key;
  if (!read_varint(headers, key_size) || !take(headers, key_size, key)) return false;
  header.key = base::as_text(key);
  return read_nullable(headers, header.value);
}

void BatchBuilder::reset(const BatchOptions& options) {
  options_ = options;
  bytes_.assign(kBatchHeaderSize, std::byte{0});
  record_count_ = 0;
  max_timestamp_ = model::kNoTimestamp;
}

void BatchBuilder::append(NullableBytes key, NullableBytes value, int64_t timestamp,
                          std::span<const RecordHeader> headers) {
  if (record_count_ == 0) options_.base_timestamp = timestamp;
  record_.clear();
  record_.push_back(std::byte{0});
  put_varlong(record_, timestamp - options_.base_timestamp);
  put_varint(record_, record_count_);
  put_nullable(record_, key);
  put_nullable(record_, value);
  put_varint(record_, static_cast<int32_t>(headers.size()));
  for (const RecordHeader& header : headers) {
    put_nullable(record_, base::as_bytes(header.key));
    put_nullable(record_, header.value);
  }
  put_varint(bytes_, static_cast<int32_t>(record_.size()));
  bytes_.insert(bytes_.end(), record_.begin(), record_.end());
  max_timestamp_ = std::max(max_timestamp_, timestamp);
  ++record_count_;
}

std::span<const std::byte> BatchBuilder::finish() {
  ASSERT(record_count_ > 0);
  int attributes = 0;
  if (options_.append_time) attributes |= batch_attribute::kAppendTime;
  if (options_.transactional) attributes |= batch_attribute::kTransactional;
  if (options_.control) attributes |= batch_attribute::kControl;
  std::byte* const to = bytes_.data();
  base::store_be(to + batch_position::kBaseOffset, options_.base_offset.value());
  base::store_be(to + batch_position::kLeaderEpoch, options_.leader_epoch);
  base::store_be(to + batch_position::kMagic, kBatchMagic);
  base::store_be(to + batch_position::kAttributes, static_cast<int16_t>(attributes));
  base::store_be(to + batch_position::kLastOffsetDelta, record_count_ - 1);
  base::store_be(to + batch_position::kBaseTimestamp, options_.base_timestamp);
  base::store_be(to + batch_position::kMaxTimestamp, max_timestamp_);
  base::store_be(to + batch_position::kProducerId, options_.producer_id.value());
  base::store_be(to + batch_position::kProducerEpoch, options_.producer_epoch.value());
  base::store_be(to + batch_position::kBaseSequence, options_.base_sequence.value());
  base::store_be(to + batch_position::kRecordCount, record_count_);
  seal_batch(bytes_);
  return bytes_;
}

void seal_batch(std::span<std::byte> batch) {
  ASSERT(batch.size() >= kBatchHeaderSize);
  const size_t length = batch.size() - kBatchLengthEnd;
  base::store_be(batch.data() + batch_position::kLength, static_cast<int32_t>(length));
  base::store_be(batch.data() + batch_position::kCrc,
                 base::crc32c(batch.subspan(kBatchCrcStart)));
}

}  // namespace weir::log
