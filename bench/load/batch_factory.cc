#include "bench/load/batch_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "engine/log/record_batch.h"
#include "io/base/crc32c.h"

namespace weir::load {
namespace {

namespace at = log::batch_position;

constexpr uint32_t kStampMagic = 0x5752424e;  // "WRBN"
constexpr size_t kRecordOverheadMax = 32;     // of one record, beside key and value
constexpr size_t kKeySize = 12;

class Builder {
 public:
  explicit Builder(const BatchSpec& spec)
      : spec_(spec),
        keys_(spec.keys, std::max<int64_t>(spec.key_count, 1), spec.zipf_exponent, spec.seed),
        random_(spec.seed, "values"),
        value_(spec.value_size) {}

  Batch build(int32_t partition);
  [[nodiscard]] const std::set<int64_t>& keys_used() const { return keys_used_; }

 private:
  std::string next_key(int32_t partition);
  void compress(Batch& batch);

  const BatchSpec& spec_;
  KeyChooser keys_;
  base::RandomStream random_;
  std::vector<std::byte> value_;
  std::set<int64_t> keys_used_;
  log::BatchBuilder builder_;
  log::Deflater deflater_;
};

// The drawn key's neighbour that belongs to the partition.
std::string Builder::next_key(int32_t partition) {
  int64_t key = keys_.next();
  key += partition - key % spec_.partition_count;
  if (key >= spec_.key_count) key -= spec_.partition_count;
  if (key < 0) key = partition;
  keys_used_.insert(key);
  return key_text(key);
}

Batch Builder::build(int32_t partition) {
  builder_.reset({});
  const size_t record_size =
      spec_.value_size + kRecordOverheadMax + (spec_.keys == KeyDistribution::none ? 0 : kKeySize);
  const auto more = [&] {
    if (spec_.record_count > 0) return builder_.record_count() < spec_.record_count;
    return builder_.record_count() == 0 || builder_.size() + record_size <= spec_.batch_size_max;
  };
  while (more()) {
    fill_value(value_, spec_.random_share, random_);
    std::string key;
    if (spec_.keys != KeyDistribution::none) key = next_key(partition);
    // The first record keeps its value: the stamp lies there.
    const bool tombstone = builder_.record_count() > 0 && spec_.tombstone_share > 0 &&
                           random_.chance(spec_.tombstone_share);
    using Nullable = log::BatchBuilder::NullableBytes;
    builder_.append(key.empty() ? Nullable{} : Nullable(base::as_bytes(key)),
                    tombstone ? Nullable{} : Nullable(std::span<const std::byte>(value_)), 0);
  }
  const auto bytes = builder_.finish();
  Batch batch{.bytes = {bytes.begin(), bytes.end()},
              .record_count = builder_.record_count(),
              .front_size = log::kBatchHeaderSize};
  if (spec_.compression.compression != log::Compression::none) {
    compress(batch);
  } else if (spec_.value_size >= kStampSize) {
    auto records = log::BatchView(batch.bytes).records();
    log::Record first;
    const bool sound = log::read_record(records, first);
    ASSERT(sound && first.value);
    batch.stamp_position = static_cast<size_t>(first.value->data() - batch.bytes.data());
    batch.front_size = batch.stamp_position + kStampSize;
  }
  ASSERT(batch.front_size <= BatchFactory::kFrontSizeMax, "{} bytes", batch.front_size);
  batch.rest_crc = base::crc32c(batch.rest());
  return batch;
}

void Builder::compress(Batch& batch) {
  std::vector<std::byte> out(batch.bytes.begin(), batch.bytes.begin() + log::kBatchHeaderSize);
  auto records = std::span<const std::byte>(batch.bytes).subspan(log::kBatchHeaderSize);
  // Random bytes may grow a little.
  deflater_.begin(spec_.compression, out, 2 * records.size() + (1 << 16));
  while (!records.empty()) {
    const auto piece = records.first(std::min(records.size(), log::Deflater::kPieceSizeMax));
    const auto status = deflater_.write(piece);
    ASSERT(status == log::Deflater::Status::ok);
    records = records.subspan(piece.size());
  }
  const auto status = deflater_.end();
  ASSERT(status == log::Deflater::Status::ok);
  base::store_be(out.data() + at::kAttributes,
                 static_cast<int16_t>(spec_.compression.compression));
  log::seal_batch(out);
  batch.bytes = std::move(out);
}

}  // namespace

std::string key_text(int64_t key) { return fmt::format("key-{:08}", key); }

void fill_value(std::span<std::byte> value, double random_share, base::RandomStream& random) {
  const auto random_size =
      static_cast<size_t>(std::lround(static_cast<double>(value.size()) * random_share));
  for (size_t i = 0; i < random_size; i += sizeof(uint64_t)) {
    const uint64_t word = random.next();
    std::memcpy(value.data() + i, &word, std::min(sizeof word, random_size - i));
  }
  constexpr std::string_view kText = "{\"event\":\"click\",\"page\":\"/home\"}";
  for (size_t i = random_size; i < value.size(); ++i) {
    value[i] = static_cast<std::byte>(kText[i % kText.size()]);
  }
}

base::Status BatchFactory::check(const BatchSpec& spec) {
  const auto refuse = [](std::string detail) { return base::error(0, std::move(detail)); };
  if (spec.value_size > kValueSizeMax) {
    return refuse(fmt::format("record size {} is above {}", spec.value_size, kValueSizeMax));
  }
  if (spec.record_count < 0) return refuse(fmt::format("{} records a batch", spec.record_count));
  if (spec.partition_count < 1) return refuse(fmt::format("{} partitions", spec.partition_count));
  if (spec.random_share < 0 || spec.random_share > 1) {
    return refuse(fmt::format("a random share of {} is not in 0..1", spec.random_share));
  }
  if (spec.tombstone_share < 0 || spec.tombstone_share >= 1) {
    return refuse(fmt::format("a tombstone share of {} is not in 0..1", spec.tombstone_share));
  }
  if (spec.keys == KeyDistribution::none) {
    if (spec.tombstone_share > 0) return refuse("tombstones need keys");
    return {};
  }
  if (spec.key_count < spec.partition_count || spec.key_count > KeyChooser::kCountMax) {
    return refuse(fmt::format("{} keys are not in {}..{} (one a partition at least)",
                              spec.key_count, spec.partition_count, KeyChooser::kCountMax));
  }
  if (spec.zipf_exponent < 0 || spec.zipf_exponent > 10) {
    return refuse(fmt::format("a zipf exponent of {} is not in 0..10", spec.zipf_exponent));
  }
  return {};
}

base::Result<BatchFactory> BatchFactory::make(const BatchSpec& spec) {
  CHECK_OK(check(spec));
  BatchFactory factory;
  Builder builder(spec);
  const bool keyed = spec.keys != KeyDistribution::none;
  factory.batches_.resize(keyed ? static_cast<size_t>(spec.partition_count) : 1);
  const size_t memory = (keyed ? kMemoryMax : kUnkeyedMemory) / factory.batches_.size();
  for (size_t p = 0; p < factory.batches_.size(); ++p) {
    auto& row = factory.batches_[p];
    size_t used = 0;
    do {
      row.push_back(builder.build(static_cast<int32_t>(p)));
      auto& shift = factory.shifts_[row.back().rest().size()];
      if (!shift) shift = std::make_unique<CrcShift>(row.back().rest().size());
      row.back().rest_shift = shift.get();
      used += row.back().bytes.size();
      factory.size_max_ = std::max(factory.size_max_, row.back().bytes.size());
    } while (used + row.back().bytes.size() <= memory && row.size() < kVariantsMax);
  }
  factory.distinct_keys_ = builder.keys_used().size();
  return factory;
}

const Batch& BatchFactory::batch(int32_t partition, uint64_t n) const {
  const auto& row = batches_[static_cast<size_t>(partition) % batches_.size()];
  return row[n % row.size()];
}

size_t stamp_front(const Batch& batch, const Stamp& stamp, int64_t timestamp_ms,
                   std::span<std::byte> front) {
  ASSERT(front.size() >= batch.front_size);
  std::byte* const to = front.data();
  std::memcpy(to, batch.bytes.data(), batch.front_size);
  base::store_be(to + at::kBaseTimestamp, timestamp_ms);
  base::store_be(to + at::kMaxTimestamp, timestamp_ms);
  if (batch.stamp_position > 0) {
    write_stamp(front.subspan(batch.stamp_position, kStampSize), stamp);
  }
  const uint32_t front_crc = base::crc32c(
      front.subspan(log::kBatchCrcStart, batch.front_size - log::kBatchCrcStart));
  base::store_be(to + at::kCrc, batch.rest_shift->combine(front_crc, batch.rest_crc));
  return batch.front_size;
}

void write_stamp(std::span<std::byte> to, const Stamp& stamp) {
  base::ByteWriter writer(to);
  writer.write_be(kStampMagic);
  writer.write_be(stamp.producer);
  writer.write_be(stamp.sequence);
  writer.write_be(stamp.intended_ns);
  ASSERT(writer.ok(), "{} bytes for a stamp", to.size());
}

std::optional<Stamp> read_stamp(std::span<const std::byte> value) {
  base::ByteReader reader(value);
  if (reader.read_be<uint32_t>() != kStampMagic) return std::nullopt;
  Stamp stamp;
  stamp.producer = reader.read_be<uint32_t>();
  stamp.sequence = reader.read_be<uint64_t>();
  stamp.intended_ns = reader.read_be<int64_t>();
  if (!reader.ok()) return std::nullopt;
  return stamp;
}

}  // namespace weir::load
