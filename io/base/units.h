#pragma once
// Sizes and durations as literals: 4_KiB, 250_ms.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weir::base {

consteval uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
consteval uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
consteval uint64_t operator""_GiB(unsigned long long n) { return n << 30; }
consteval int64_t operator""_us(unsigned long long n) { return static_cast<int64_t>(n) * 1000; }
consteval int64_t operator""_ms(unsigned long long n) {
  return static_cast<int64_t>(n) * 1'000'000;
}
consteval int64_t operator""_s(unsigned long long n) {
  return static_cast<int64_t>(n) * 1'000'000'000;
}

// A setting in milliseconds as a duration in ns: none below 0, and at most half of what fits, so
// that it can be added to the time of a clock.
constexpr int64_t ms_to_ns(int64_t ms) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 1_ms / 2;
  return std::clamp<int64_t>(ms, 0, kMax) * 1_ms;
}

constexpr uint64_t round_down(uint64_t value, uint64_t unit) { return value - value % unit; }
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace weir::base
