#pragma once
// Bytes of the Kafka protocol for the simulator's clients. Written apart from engine/wire and
// engine/log on purpose: a codec bug must not cancel out between client and broker.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::simtest {

using ByteString = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

// Appends big-endian fields.
class Writer {
 public:
  template <class T>
  Writer& number(T value) {
    for (size_t i = sizeof(T); i-- > 0;) {
      bytes_.push_back(static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i)));
    }
    return *this;
  }
  Writer& i8(int value) { return number(static_cast<int8_t>(value)); }
  Writer& i16(int value) { return number(static_cast<int16_t>(value)); }
  Writer& i32(int64_t value) { return number(static_cast<int32_t>(value)); }
  Writer& i64(int64_t value) { return number(value); }
  Writer& text(std::string_view value);
  Writer& null_text() { return i16(-1); }
  Writer& blob(ByteSpan value);  // with a 32-bit size in front
  Writer& raw(ByteSpan value);
  Writer& varint(int64_t value);  // zigzag

  size_t size() const { return bytes_.size(); }
  void patch_i32(size_t position, int64_t value);
  ByteSpan view() const { return bytes_; }
  ByteString take() { return std::move(bytes_); }

 private:
  ByteString bytes_;
};

// Reads big-endian fields; past the end it fails for good and gives zeroes.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size(); }

  template <class T>
  T number() {
    const ByteSpan field = raw(sizeof(T));
    uint64_t value = 0;
    for (const std::byte b : field) value = (value << 8) | std::to_integer<uint64_t>(b);
    return static_cast<T>(value);
  }
  int i8() { return number<int8_t>(); }
  int i16() { return number<int16_t>(); }
  int32_t i32() { return number<int32_t>(); }
  int64_t i64() { return number<int64_t>(); }
  std::string text();  // null: empty
  ByteSpan blob();     // null: empty
  ByteSpan raw(size_t size);
  int64_t varint();
  // A length of an array whose elements take at least one byte each; null: 0.
  int32_t count();

 private:
  ByteSpan bytes_;
  bool ok_ = true;
};

uint32_t checksum(ByteSpan bytes);  // CRC-32C

struct Record {
  int64_t timestamp = 0;
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
  bool tombstone = false;  // no value at all
  bool operator==(const Record&) const = default;
};

struct ProducerStamp {
  int64_t producer_id = -1;
  int16_t epoch = -1;
  int32_t base_sequence = -1;
};

// A version 2 record batch, uncompressed, at offset 0.
ByteString encode_batch(const ProducerStamp& stamp, std::span<const Record> records);
// The same as part of a transaction.
ByteString encode_transactional_batch(const ProducerStamp& stamp, std::span<const Record> records);

struct BatchView {
  int64_t base_offset = 0;
  int32_t leader_epoch = 0;
  int attributes = 0;
  int32_t last_offset_delta = 0;
  int64_t base_timestamp = 0;
  int64_t max_timestamp = 0;
  ProducerStamp stamp;
  int32_t record_count = 0;
  uint32_t sum = 0;  // as written in it
  ByteSpan whole;   // header and records
  ByteSpan sealed;  // what a broker must not change: all but base offset and leader epoch
  std::string first_key;
  int64_t next_offset() const { return base_offset + last_offset_delta + 1; }
  bool checksum_matches() const;
  bool is_control() const { return (attributes & 0x20) != 0; }
};

// Takes the first batch off `bytes`. Nothing when it is not whole or not version 2.
std::optional<BatchView> take_batch(ByteSpan& bytes);
// Its records and their offsets, which grow. Nothing when they do not end where the batch does, or
// in another number than it says.
std::optional<std::vector<std::pair<int64_t, Record>>> read_records(const BatchView& batch);
// sealed part of a batch as encoded, for comparison.
bool same_sealed(ByteSpan encoded, const BatchView& read);

}  // namespace weir::simtest
