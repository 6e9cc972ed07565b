// What a checksum costs: over bytes, and put together from two without touching them.

#include <benchmark/benchmark.h>

#include <vector>

#include "io/base/crc32c.h"

namespace {

void crc32c_bytes(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)), std::byte{0x5A});
  uint32_t sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum = weir::base::crc32c(bytes, sum));
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.counters["checksum"] = sum;
}
BENCHMARK(crc32c_bytes)->Name("crc32c/sum/bytes")->Arg(128)->Arg(4096)->Arg(65536);

void crc32c_combine(benchmark::State& state) {
  uint32_t sum = 1;
  for (auto _ : state) {
    sum = weir::base::crc32c_combine(sum, 0x1234567, static_cast<uint64_t>(state.range(0)));
    benchmark::DoNotOptimize(sum);
  }
  state.counters["checksum"] = sum;
}
BENCHMARK(crc32c_combine)->Name("crc32c/combine/bytes")->Arg(128)->Arg(4096)->Arg(65536);

}  // namespace
