#include "tools/weir/batch_reader.h"

#include <vector>

#include "engine/log/inflater.h"

namespace weir::tools {
namespace {

constexpr size_t kBatchSizeMax = size_t{1} << 30;
constexpr size_t kInflateStep = size_t{1} << 20;

// All records of a compressed batch; false when they cannot be inflated.
bool inflate(const log::BatchView& batch, std::vector<std::byte>& out) {
  if (batch.compression_bits() > log::kCompressionMax) return false;
  log::Inflater inflater;
  inflater.begin(batch.compression(), batch.records());
  size_t used = 0;
  while (inflater.status() == log::InflateStatus::more) {
    out.resize(used + kInflateStep);
    used += inflater.read(std::span(out).subspan(used));
  }
  out.resize(used);
  return inflater.status() == log::InflateStatus::end;
}

}  // namespace

bool for_each_record(const log::BatchView& batch,
                     const std::function<bool(const log::Record&)>& each) {
  std::vector<std::byte> inflated;
  std::span<const std::byte> bytes = batch.records();
  if (batch.compression_bits() != 0) {
    if (!inflate(batch, inflated)) return false;
    bytes = inflated;
  }
  for (int32_t i = 0; i < batch.record_count(); ++i) {
    log::Record record;
    if (!log::read_record(bytes, record)) return false;
    if (!each(record)) return true;
  }
  return true;
}

std::span<const std::byte> sound_batch(InputFile& file, uint64_t position) {
  auto bytes = file.read(position, log::kBatchHeaderSize);
  if (bytes.size() < log::kBatchHeaderSize) return {};
  const log::BatchView header(bytes);
  if (header.magic() != log::kBatchMagic || header.length() < 0 || header.size() > kBatchSizeMax) {
    return {};
  }
  bytes = file.read(position, header.size());
  if (!log::starts_with_batch(bytes)) return {};
  const log::BatchView batch(bytes);
  return batch.computed_crc() == batch.crc() ? bytes : std::span<const std::byte>{};
}

uint64_t next_sound_position(InputFile& file, uint64_t position) {
  for (++position; position + log::kBatchHeaderSize <= file.size(); ++position) {
    const auto magic = file.read(position + log::batch_position::kMagic, 1);
    if (magic.empty() || magic[0] != static_cast<std::byte>(log::kBatchMagic)) continue;
    if (!sound_batch(file, position).empty()) return position;
  }
  return file.size();
}

}  // namespace weir::tools
