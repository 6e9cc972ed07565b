#pragma once
// Sizes and durations as literals: 4_KiB, 250_ms.

#include <cstdint>

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

constexpr uint64_t round_down(uint64_t value, uint64_t unit) { return value - value % unit; }
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace weir::base
