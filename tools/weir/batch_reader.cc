#include "tools/weir/batch_reader.h"

#include <vector>

#include "engine/log/inflater.h"

namespace weir::tools {
namespace {

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

}  // namespace weir::tools
