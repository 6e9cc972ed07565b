#include "bench/load/key_chooser.h"

#include <algorithm>
#include <cmath>

#include "io/base/assert.h"

namespace weir::load {

KeyChooser::KeyChooser(KeyDistribution distribution, int64_t count, double exponent, uint64_t seed)
    : count_(count), random_(seed, "keys") {
  ASSERT(count >= 1 && count <= kCountMax, "{} keys", count);
  if (distribution != KeyDistribution::zipf) return;
  sums_.reserve(static_cast<size_t>(count));
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    sum += std::pow(static_cast<double>(k + 1), -exponent);
    sums_.push_back(sum);
  }
}

int64_t KeyChooser::next() {
  if (sums_.empty()) return static_cast<int64_t>(random_.below(static_cast<uint64_t>(count_)));
  const double draw = static_cast<double>(random_.next() >> 11) * 0x1p-53 * sums_.back();
  return std::ranges::upper_bound(sums_, draw) - sums_.begin();
}

}  // namespace weir::load
