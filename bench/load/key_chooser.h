#pragma once
// KeyChooser: numbers of keys, drawn from [0, count) by a distribution; the same seed gives the
// same keys. Zipf: key k is drawn in proportion to 1 / (k + 1)^exponent, by a table of sums (8
// bytes a key, kCountMax keys at most) and a binary search.

#include <cstdint>
#include <vector>

#include "io/base/random.h"

namespace weir::load {

enum class KeyDistribution : uint8_t { none, uniform, zipf };

class KeyChooser {
 public:
  static constexpr int64_t kCountMax = 10'000'000;

  // count: 1 to kCountMax.
  KeyChooser(KeyDistribution distribution, int64_t count, double exponent, uint64_t seed);

  int64_t next();

 private:
  int64_t count_;
  std::vector<double> sums_;  // empty: uniform
  base::RandomStream random_;
};

}  // namespace weir::load
