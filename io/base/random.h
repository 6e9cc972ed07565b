#pragma once
// RandomStream: a small seeded generator (splitmix64 seeding, xoshiro256**), for simulation and for
// identifiers that need not be secret. Independent streams come from one seed by name, so that an
// extra draw in one does not shift the others.

#include <cstdint>
#include <string_view>

namespace weir::base {

class RandomStream {
 public:
  explicit RandomStream(uint64_t seed);
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t next();
  uint64_t below(uint64_t bound);                     // uniform in [0, bound); bound > 0
  uint64_t between(uint64_t low, uint64_t high);      // uniform in [low, high]
  bool chance(double probability);

 private:
  uint64_t state_[4];
};

}  // namespace weir::base
