#include "io/base/random.h"

#include <bit>

#include "io/base/assert.h"

namespace weir::base {
namespace {

uint64_t splitmix(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t hash_name(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325ull;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return hash;
}

}  // namespace

RandomStream::RandomStream(uint64_t seed) {
  for (auto& word : state_) word = splitmix(seed);
}

RandomStream::RandomStream(uint64_t seed, std::string_view name)
    : RandomStream(seed ^ hash_name(name)) {}

uint64_t RandomStream::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t RandomStream::below(uint64_t bound) {
  ASSERT(bound > 0);
  // Rejection keeps it uniform; the loop ends with probability >= 1/2 each round.
  const uint64_t limit = bound * (UINT64_MAX / bound);
  uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

uint64_t RandomStream::between(uint64_t low, uint64_t high) {
  ASSERT(low <= high);
  return high - low == UINT64_MAX ? next() : low + below(high - low + 1);
}

bool RandomStream::chance(double probability) {
  return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
}

}  // namespace weir::base
