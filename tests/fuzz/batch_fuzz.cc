// Fuzz: a record batch from the network. Nothing crashes or reads past the end, the verdict is
// stable, and what was accepted can be read again record by record.
//
// Input: rule bits, then the batch. With bit 0 the length and the CRC are made right first, so that
// mutations get past them.

#include <cstdlib>
#include <vector>

#include "engine/log/batch_validator.h"

namespace {

using namespace weir;

void check(bool condition) {
  if (!condition) std::abort();
}

// 1 to 5: a topic that asks for a codec, or for none.
std::optional<log::CompressionTarget> wanted_compression(int number) {
  if (number < 1 || number > log::kCompressionMax + 1) return std::nullopt;
  return log::CompressionTarget{static_cast<log::Compression>(number - 1), 1};
}

void check_accepted(const log::BatchVerdict& verdict, const log::BatchRules& rules) {
  const log::BatchView batch(verdict.batch);
  check(batch.size() == verdict.batch.size());
  check(batch.crc() == batch.computed_crc());
  check(batch.record_count() == verdict.record_count && verdict.record_count > 0);
  check(batch.is_append_time() == rules.append_time);
  if (verdict.recompressed) check(batch.compression() == rules.compression->compression);
  if (batch.compression() != log::Compression::none) return;
  auto rest = batch.records();
  log::Record record;
  for (int32_t i = 0; i < verdict.record_count; ++i) {
    check(log::read_record(rest, record));
    check(record.offset_delta == i);
    check(!rules.keys_required || record.key.has_value());
  }
  check(rest.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static log::BatchValidator validator;
  if (size == 0) return 0;
  const uint8_t bits = data[0];
  const auto input = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<std::byte> batch(input.begin(), input.end());
  if ((bits & 1) != 0 && batch.size() >= log::kBatchHeaderSize) log::seal_batch(batch);
  const log::BatchRules rules{.keys_required = (bits & 2) != 0,
                              .append_time = (bits & 4) != 0,
                              .zstd_allowed = (bits & 8) == 0,
                              .now_ms = 1'700'000'000'000,
                              .timestamp_after_max_ms = 3'600'000,
                              .compression = wanted_compression(bits >> 4)};
  std::vector<std::byte> copy = batch;
  const log::BatchVerdict verdict = validator.validate(copy, rules);
  if (verdict.error != model::ErrorCode::none) {
    check(copy == batch);
    return 0;
  }
  check_accepted(verdict, rules);
  // Once accepted, always accepted, and nothing more is changed; but append time is only ours to
  // claim.
  if (rules.append_time) return 0;
  if (verdict.recompressed) copy.assign(verdict.batch.begin(), verdict.batch.end());
  std::vector<std::byte> again = copy;
  log::BatchRules again_rules = rules;
  again_rules.zstd_allowed = true;
  check(validator.validate(again, again_rules).error == model::ErrorCode::none);
  check(again == copy);
  return 0;
}
