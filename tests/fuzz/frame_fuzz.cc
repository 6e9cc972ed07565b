// Fuzz: a byte stream and how it is cut. Every cut gives the same frames and the same verdict, and
// the reader never holds more than has arrived, twice over, and a first allocation.
//
// Input: 8 bytes of seed for the cuts, then the stream.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/connection/frame.h"
#include "io/base/random.h"
#include "io/sim/sim_world.h"

namespace {

using namespace weir;
using connection::FrameReader;
using Step = FrameReader::Step;

struct Result {
  std::vector<std::vector<std::byte>> frames;
  bool refused = false;
  bool operator==(const Result&) const = default;
};

void check(bool condition) {
  if (!condition) std::abort();
}

void take(FrameReader& reader, connection::MemoryBudget& budget, Result& result) {
  connection::Frame frame = reader.take();
  const auto bytes = frame.buffer.first(frame.size);
  result.frames.emplace_back(bytes.begin(), bytes.end());
  budget.release(frame.reserved);
}

// Pieces of random sizes up to size_max, some straight into the frame.
Result read(std::span<const std::byte> stream, connection::MemoryBudget& budget,
            base::RandomStream& random, size_t size_max) {
  Result result;
  FrameReader reader(budget, size_t{64} << 20);
  while (!stream.empty()) {
    auto piece = stream.first(std::min<size_t>(stream.size(), 1 + random.below(size_max)));
    std::span<std::byte> place;
    check(reader.prepare_direct(place) == Step::need_bytes);
    Step step;
    if (!place.empty() && random.chance(0.5)) {
      piece = piece.first(std::min(piece.size(), place.size()));
      std::memcpy(place.data(), piece.data(), piece.size());
      step = reader.received(piece.size());
      stream = stream.subspan(piece.size());
    } else {
      auto rest = piece;
      step = reader.push(rest);
      stream = stream.subspan(piece.size() - rest.size());
    }
    check(budget.size_used() <= (size_t{64} << 20));
    check(step != Step::blocked);
    if (step == Step::frame) take(reader, budget, result);
    result.refused = step == Step::refused;
    if (result.refused) break;
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static io::sim::SimWorld world(1);
  static connection::MemoryBudget budget(world.core(0).loop, size_t{256} << 20);
  if (size < 8) return 0;
  uint64_t seed = 0;
  std::memcpy(&seed, data, sizeof(seed));
  base::RandomStream random(seed);
  const auto stream = std::as_bytes(std::span(data + 8, size - 8));
  const Result whole = read(stream, budget, random, stream.size() + 1);
  for (const size_t size_max : {size_t{1}, size_t{7}, size_t{100}, size_t{20'000}}) {
    check(read(stream, budget, random, size_max) == whole);
  }
  check(budget.size_used() == 0);
  return 0;
}
