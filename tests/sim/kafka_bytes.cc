#include "tests/sim/kafka_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weir::simtest {
namespace {

constexpr size_t kBatchHeaderSize = 61;
constexpr size_t kLengthPosition = 8;    // everything behind the length field is counted by it
constexpr size_t kSealedFrom = 16;       // magic, checksum and all behind
constexpr size_t kChecksumPosition = 17;
constexpr size_t kSummedFrom = 21;

ByteSpan as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

ByteString encode_record(const Record& record, int64_t base_timestamp, int64_t delta) {
  Writer body;
  body.i8(0).varint(record.timestamp - base_timestamp).varint(delta);
  body.varint(static_cast<int64_t>(record.key.size())).raw(as_bytes(record.key));
  if (record.tombstone) body.varint(-1);
  else body.varint(static_cast<int64_t>(record.value.size())).raw(as_bytes(record.value));
  body.varint(static_cast<int64_t>(record.headers.size()));
  for (const auto& [name, value] : record.headers) {
    body.varint(static_cast<int64_t>(name.size())).raw(as_bytes(name));
    body.varint(static_cast<int64_t>(value.size())).raw(as_bytes(value));
  }
  Writer framed;
  framed.varint(static_cast<int64_t>(body.size())).raw(body.view());
  return framed.take();
}

// tables[n][b]: what byte b does to the sum when n zeroes follow it.
using ChecksumTables = std::array<std::array<uint32_t, 256>, 8>;

ChecksumTables make_tables() {
  ChecksumTables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0x82F63B78u : 0u);
    tables[0][i] = value;
  }
  for (size_t zeroes = 1; zeroes < tables.size(); ++zeroes) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[zeroes - 1][i];
      tables[zeroes][i] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

ByteString encode(const ProducerStamp& stamp, std::span<const Record> records, int attributes) {
  int64_t max_timestamp = records[0].timestamp;
  for (const Record& record : records) max_timestamp = std::max(max_timestamp, record.timestamp);
  const auto count = static_cast<int64_t>(records.size());
  Writer summed;
  summed.i16(attributes).i32(count - 1).i64(records[0].timestamp).i64(max_timestamp);
  summed.i64(stamp.producer_id).i16(stamp.epoch).i32(stamp.base_sequence).i32(count);
  for (int64_t i = 0; i < count; ++i) {
    summed.raw(encode_record(records[static_cast<size_t>(i)], records[0].timestamp, i));
  }
  Writer batch;
  batch.i64(0).i32(static_cast<int64_t>(summed.size() + 9)).i32(-1).i8(2);
  batch.i32(static_cast<int32_t>(checksum(summed.view()))).raw(summed.view());
  return batch.take();
}

}  // namespace

Writer& Writer::text(std::string_view value) {
  i16(static_cast<int>(value.size()));
  return raw(as_bytes(value));
}

Writer& Writer::blob(ByteSpan value) {
  i32(static_cast<int64_t>(value.size()));
  return raw(value);
}

Writer& Writer::raw(ByteSpan value) {
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  return *this;
}

Writer& Writer::varint(int64_t value) {
  uint64_t rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; rest >= 0x80; rest >>= 7) bytes_.push_back(static_cast<std::byte>(rest | 0x80));
  bytes_.push_back(static_cast<std::byte>(rest));
  return *this;
}

void Writer::patch_i32(size_t position, int64_t value) {
  Writer field;
  field.i32(value);
  std::ranges::copy(field.view(), bytes_.begin() + static_cast<std::ptrdiff_t>(position));
}

std::string Reader::text() {
  const int size = i16();
  const ByteSpan field = raw(size < 0 ? 0 : static_cast<size_t>(size));
  return {reinterpret_cast<const char*>(field.data()), field.size()};
}

ByteSpan Reader::blob() {
  const int32_t size = i32();
  return raw(size < 0 ? 0 : static_cast<size_t>(size));
}

ByteSpan Reader::raw(size_t size) {
  if (size > bytes_.size()) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const ByteSpan field = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return field;
}

int64_t Reader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const auto byte = number<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  ok_ = false;
  return 0;
}

int32_t Reader::count() {
  const int32_t count = i32();
  if (count > 0 && static_cast<size_t>(count) > remaining()) ok_ = false;
  return ok_ && count > 0 ? count : 0;
}

uint32_t checksum(ByteSpan bytes) {
  static const ChecksumTables tables = make_tables();
  uint32_t sum = ~uint32_t{0};
  const auto byte = [&](size_t i) { return std::to_integer<uint32_t>(bytes[i]); };
  for (; bytes.size() >= tables.size(); bytes = bytes.subspan(tables.size())) {
    uint32_t next = 0;
    for (size_t i = 0; i < tables.size(); ++i) {
      const uint32_t before = i < sizeof sum ? sum >> (8 * i) : 0;
      next ^= tables[tables.size() - 1 - i][(before ^ byte(i)) & 0xFF];
    }
    sum = next;
  }
  for (size_t i = 0; i < bytes.size(); ++i) sum = (sum >> 8) ^ tables[0][(sum ^ byte(i)) & 0xFF];
  return ~sum;
}

ByteString encode_batch(const ProducerStamp& stamp, std::span<const Record> records) {
  return encode(stamp, records, 0);
}

ByteString encode_transactional_batch(const ProducerStamp& stamp,
                                      std::span<const Record> records) {
  constexpr int kTransactional = 0x10;
  return encode(stamp, records, kTransactional);
}

bool BatchView::checksum_matches() const { return sum == checksum(whole.subspan(kSummedFrom)); }

std::optional<BatchView> take_batch(ByteSpan& bytes) {
  if (bytes.size() < kBatchHeaderSize) return std::nullopt;
  Reader reader(bytes);
  BatchView view;
  view.base_offset = reader.i64();
  const int32_t length = reader.i32();
  const size_t size = kLengthPosition + 4 + static_cast<size_t>(std::max(length, 0));
  if (length < 49 || size > bytes.size()) return std::nullopt;
  view.whole = bytes.first(size);
  view.sealed = view.whole.subspan(kSealedFrom);
  view.leader_epoch = reader.i32();
  if (reader.i8() != 2) return std::nullopt;
  view.sum = static_cast<uint32_t>(reader.i32());
  view.attributes = reader.i16();
  view.last_offset_delta = reader.i32();
  view.base_timestamp = reader.i64();
  view.max_timestamp = reader.i64();
  view.stamp.producer_id = reader.i64();
  view.stamp.epoch = static_cast<int16_t>(reader.i16());
  view.stamp.base_sequence = reader.i32();
  view.record_count = reader.i32();
  reader.varint();  // size of the first record
  reader.i8();
  reader.varint();
  reader.varint();
  const int64_t key_size = reader.varint();
  const ByteSpan key = reader.raw(key_size > 0 ? static_cast<size_t>(key_size) : 0);
  view.first_key.assign(reinterpret_cast<const char*>(key.data()), key.size());
  bytes = bytes.subspan(size);
  return view;
}

namespace {

// A field with a varint size in front; less than zero: none.
std::string sized_text(Reader& reader, bool& none) {
  const int64_t size = reader.varint();
  none = size < 0;
  const ByteSpan field = reader.raw(none ? 0 : static_cast<size_t>(size));
  return {reinterpret_cast<const char*>(field.data()), field.size()};
}

}  // namespace

std::optional<std::vector<std::pair<int64_t, Record>>> read_records(const BatchView& batch) {
  std::vector<std::pair<int64_t, Record>> records;
  Reader reader(batch.whole.subspan(kBatchHeaderSize));
  while (reader.ok() && reader.remaining() > 0) {
    Reader body(reader.raw(static_cast<size_t>(reader.varint())));
    Record record;
    bool none = false;
    body.i8();
    record.timestamp = batch.base_timestamp + body.varint();
    const int64_t offset = batch.base_offset + body.varint();
    record.key = sized_text(body, none);
    record.value = sized_text(body, record.tombstone);
    for (int64_t headers = body.varint(); headers > 0 && body.ok(); --headers) {
      const std::string name = sized_text(body, none);
      record.headers.emplace_back(name, sized_text(body, none));
    }
    const bool in_order = records.empty() || records.back().first < offset;
    if (!body.ok() || body.remaining() > 0 || !in_order) return std::nullopt;
    if (offset < batch.base_offset || offset >= batch.next_offset()) return std::nullopt;
    records.emplace_back(offset, std::move(record));
  }
  if (!reader.ok() || records.size() != static_cast<size_t>(batch.record_count)) {
    return std::nullopt;
  }
  return records;
}

bool same_sealed(ByteSpan encoded, const BatchView& read) {
  const ByteSpan expected = encoded.subspan(kSealedFrom);
  const bool same_length = encoded.size() == read.whole.size();
  return same_length && std::memcmp(expected.data(), read.sealed.data(), expected.size()) == 0;
}

static_assert(kChecksumPosition + 4 == kSummedFrom && kSealedFrom + 1 == kChecksumPosition);

}  // namespace weir::simtest
