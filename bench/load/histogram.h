#pragma once
// Histogram: latencies in nanoseconds, log-linear, three significant digits, never sampled.
//
// 1,024 steps per power of two from 2,048 ns on, each step at most 0.1 % of its value; below that
// every nanosecond has its own bucket. Values to 2^42 ns (73 min); greater ones fall into the
// last bucket, max() stays exact. The buckets are allocated with the object (271 KiB); adding is
// an index and an increment. One thread owns a histogram; those of several threads or runs are
// merged.
//
// Text form, to be stored and merged (BENCHMARKS 1 rule 2), one line without blanks:
//
//   weir-hdr1:<max>:<sum>:<index>*<count>,<index>*<count>,…     buckets in use, rising

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/base/result.h"

namespace weir::load {

class Histogram {
 public:
  static constexpr uint32_t kSubBits = 10;
  static constexpr uint32_t kValueBits = 42;
  static constexpr uint32_t kBuckets = (kValueBits - kSubBits + 1) << kSubBits;

  Histogram() : counts_(kBuckets) {}

  // Negative values count as 0: a clock may be read a little before it was.
  void add(int64_t value_ns, uint64_t times = 1) {
    const uint64_t value = value_ns < 0 ? 0 : static_cast<uint64_t>(value_ns);
    counts_[index_of(value)] += times;
    count_ += times;
    sum_ += value * times;
    if (value > max_ && times > 0) max_ = value;
  }
  void merge(const Histogram& other);
  void clear();

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const;
  // The least value of which at least `share` (0..1) of all values are not greater, to the upper
  // edge of its bucket and never above max(). 0 when there is no value.
  [[nodiscard]] uint64_t percentile(double share) const;

  [[nodiscard]] std::string to_text() const;
  static base::Result<Histogram> from_text(std::string_view text);

  static uint32_t index_of(uint64_t value);
  // The greatest value of a bucket.
  static uint64_t upper_edge(uint32_t index);

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace weir::load
