#pragma once
// BatchFactory: record batches built before the run, valid to any Kafka broker. What a send costs
// is the copy of some hundred bytes: only the front of a batch changes, and its CRC is put
// together from that of the new front and that of the rest, which was computed once.
//
// The stamp says when the batch was meant to start and which one it is. It lies in the first
// kStampSize bytes of the first record's value:
//
//   magic u32 "WRBN" | producer u32 | sequence u64 | intended start in ns, CLOCK_MONOTONIC, i64
//
// all big-endian. Batches that are compressed, or whose values are smaller, carry no stamp; the
// time of such a batch is its base timestamp, in milliseconds.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/load/crc_shift.h"
#include "bench/load/key_chooser.h"
#include "engine/log/deflater.h"
#include "io/base/result.h"

namespace weir::load {

struct Stamp {
  uint32_t producer = 0;
  uint64_t sequence = 0;
  int64_t intended_ns = 0;
  bool operator==(const Stamp&) const = default;
};

inline constexpr size_t kStampSize = 24;

struct BatchSpec {
  size_t value_size = 1024;         // bytes of a value
  size_t batch_size_max = 1 << 16;  // of the batch before compression; one record fits always
  int32_t record_count = 0;         // 0: as many as fit
  KeyDistribution keys = KeyDistribution::none;
  int64_t key_count = 10'000;
  double zipf_exponent = 0.99;
  double tombstone_share = 0;  // records with a key and no value, of all
  double random_share = 0.5;   // bytes of a value that no codec can shrink
  log::CompressionTarget compression{};
  int32_t partition_count = 1;  // keyed batches hold the keys of one partition: key % count
  uint64_t seed = 1;
};

struct Batch {
  std::vector<std::byte> bytes;
  int32_t record_count = 0;
  size_t front_size = 0;      // what stamp() writes; the rest follows in bytes
  size_t stamp_position = 0;  // 0: carries none
  uint32_t rest_crc = 0;      // of the bytes from front_size on
  const CrcShift* rest_shift = nullptr;  // by their size; the factory's

  [[nodiscard]] std::span<const std::byte> rest() const {
    return std::span(bytes).subspan(front_size);
  }
};

class BatchFactory {
 public:
  // Of all batches of a factory: as many variants as fit, kVariantsMax for one partition at most.
  static constexpr size_t kMemoryMax = size_t{64} << 20;
  static constexpr size_t kUnkeyedMemory = size_t{1} << 20;
  static constexpr size_t kVariantsMax = 4096;
  // A front: header, lengths and key of the first record, stamp.
  static constexpr size_t kFrontSizeMax = 192;
  static constexpr size_t kValueSizeMax = size_t{64} << 20;

  // The error names what is out of range.
  static base::Status check(const BatchSpec& spec);
  static base::Result<BatchFactory> make(const BatchSpec& spec);

  // Any of the batches for the partition, one after another for rising n.
  [[nodiscard]] const Batch& batch(int32_t partition, uint64_t n) const;
  // Keys that occur in the batches, of those asked for.
  [[nodiscard]] size_t distinct_keys() const { return distinct_keys_; }
  [[nodiscard]] size_t size_max() const { return size_max_; }

 private:
  BatchFactory() = default;

  std::map<size_t, std::unique_ptr<const CrcShift>> shifts_;  // by the size of a rest
  std::vector<std::vector<Batch>> batches_;  // by partition when keyed, else one row
  size_t distinct_keys_ = 0;
  size_t size_max_ = 0;
};

// Writes the front of the batch, with stamp, timestamps and CRC; returns its size. `front` has
// BatchFactory::kFrontSizeMax bytes at least.
size_t stamp_front(const Batch& batch, const Stamp& stamp, int64_t timestamp_ms,
                   std::span<std::byte> front);

// "key-00000042".
std::string key_text(int64_t key);

// Random bytes, then a text that codecs shrink to nearly nothing.
void fill_value(std::span<std::byte> value, double random_share, base::RandomStream& random);

// To the first kStampSize bytes.
void write_stamp(std::span<std::byte> to, const Stamp& stamp);
// The stamp at the beginning of a value, if there is one.
std::optional<Stamp> read_stamp(std::span<const std::byte> value);

}  // namespace weir::load
