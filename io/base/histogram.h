#pragma once
// Histogram: log-linear, 8 steps per power of two (12.5 % wide), values to 2^40. Adding is two
// instructions and an increment; histograms of several cores add up.

#include <array>
#include <bit>
#include <cstdint>

namespace weir::base {

class Histogram {
 public:
  static constexpr uint32_t kSubBits = 3;
  static constexpr uint32_t kBuckets = (40 - kSubBits + 1) << kSubBits;

  void add(uint64_t value) {
    ++counts_[index_of(value)];
    ++count_;
    sum_ += value;
    if (value > max_) max_ = value;
  }
  void merge(const Histogram& other) {
    for (uint32_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    if (other.max_ > max_) max_ = other.max_;
  }
  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t max() const { return max_; }
  // The upper edge of the bucket that holds the given share (0..1) of all values.
  uint64_t quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_) + 0.999999);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (seen >= wanted && seen > 0) return upper_edge(i) < max_ ? upper_edge(i) : max_;
    }
    return max_;
  }

  static uint32_t index_of(uint64_t value) {
    if (value < (1u << kSubBits)) return static_cast<uint32_t>(value);
    const auto exponent = static_cast<uint32_t>(std::bit_width(value)) - 1 - kSubBits;
    const auto index = ((exponent + 1) << kSubBits) +
                       static_cast<uint32_t>((value >> exponent) & ((1u << kSubBits) - 1));
    return index < kBuckets ? index : kBuckets - 1;
  }
  static uint64_t upper_edge(uint32_t index) {
    if (index < (1u << kSubBits)) return index;
    const uint32_t exponent = (index >> kSubBits) - 1;
    const uint64_t base = (1u << kSubBits) + (index & ((1u << kSubBits) - 1));
    return ((base + 1) << exponent) - 1;
  }

 private:
  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace weir::base
