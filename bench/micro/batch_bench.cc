// What a produced batch costs before it is appended: validation of its header, CRC and records.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engine/log/batch_validator.h"
#include "engine/log/record_batch.h"
#include "io/base/bytes.h"

namespace {

void validate(benchmark::State& state) {
  const std::string value(static_cast<size_t>(state.range(1)), 'v');
  weir::log::BatchBuilder builder;
  for (int64_t i = 0; i < state.range(0); ++i) {
    builder.append(std::nullopt, weir::base::as_bytes(value), 1'700'000'000'000 + i);
  }
  const auto built = builder.finish();
  std::vector<std::byte> bytes(built.begin(), built.end());
  weir::log::BatchValidator validator;
  const weir::log::BatchRules rules{.now_ms = 1'700'000'000'000};
  int64_t records = 0;
  for (auto _ : state) records += validator.validate(bytes, rules).record_count;
  state.SetItemsProcessed(records);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(validate)->Name("batch/validate/records_x_bytes")->Args({1, 100})->Args({600, 100});

}  // namespace
