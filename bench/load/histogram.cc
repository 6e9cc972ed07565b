#include "bench/load/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace weir::load {
namespace {

constexpr std::string_view kMagic = "weir-hdr1:";

// Takes a number and the separator behind it off the front. A separator of 0: none may follow.
bool take(std::string_view& text, char separator, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (separator == 0) return true;
  if (!text.starts_with(separator)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

uint32_t Histogram::index_of(uint64_t value) {
  if (value < (1u << kSubBits)) return static_cast<uint32_t>(value);
  const auto exponent = static_cast<uint32_t>(std::bit_width(value)) - 1 - kSubBits;
  const uint32_t index = ((exponent + 1) << kSubBits) +
                         static_cast<uint32_t>((value >> exponent) & ((1u << kSubBits) - 1));
  return std::min(index, kBuckets - 1);
}

uint64_t Histogram::upper_edge(uint32_t index) {
  if (index < (1u << kSubBits)) return index;
  const uint32_t exponent = (index >> kSubBits) - 1;
  const uint64_t base = (1u << kSubBits) + (index & ((1u << kSubBits) - 1));
  return ((base + 1) << exponent) - 1;
}

void Histogram::merge(const Histogram& other) {
  for (uint32_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
  std::ranges::fill(counts_, 0);
  count_ = sum_ = max_ = 0;
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

uint64_t Histogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const double exact = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(exact - 1e-9)));
  uint64_t seen = 0;
  for (uint32_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    // The last bucket has no upper edge.
    if (seen >= wanted) return i + 1 == kBuckets ? max_ : std::min(upper_edge(i), max_);
  }
  return max_;
}

std::string Histogram::to_text() const {
  std::string text = fmt::format("{}{}:{}:", kMagic, max_, sum_);
  for (uint32_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] > 0) text += fmt::format("{}*{},", i, counts_[i]);
  }
  if (text.ends_with(',')) text.pop_back();
  return text;
}

base::Result<Histogram> Histogram::from_text(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return base::error(0, fmt::format("histogram: {} at '{:.20}'", why, text));
  };
  if (!text.starts_with(kMagic)) return refuse("no weir-hdr1");
  text.remove_prefix(kMagic.size());
  Histogram histogram;
  uint64_t max = 0;
  if (!take(text, ':', max) || !take(text, ':', histogram.sum_)) return refuse("no max and sum");
  uint64_t next_index = 0;
  while (!text.empty()) {
    uint64_t index = 0;
    uint64_t count = 0;
    if (!take(text, '*', index) || !take(text, 0, count)) return refuse("no index*count");
    if (index < next_index || index >= kBuckets || count == 0) return refuse("a wrong bucket");
    next_index = index + 1;
    histogram.counts_[index] = count;
    histogram.count_ += count;
    if (text.empty()) break;
    if (!text.starts_with(',') || text.size() == 1) return refuse("no bucket");
    text.remove_prefix(1);
  }
  // The maximum belongs into the last bucket in use.
  if (histogram.count_ == 0 ? max != 0 : index_of(max) + 1 != next_index) {
    return refuse("a max that no bucket holds");
  }
  histogram.max_ = max;
  return histogram;
}

}  // namespace weir::load
