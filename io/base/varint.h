#pragma once
// Variable-length integers of the Kafka protocol and of record batches.
//
// Seven bits a byte, least significant group first, top bit set on every byte but the last: at
// most 5 bytes for 32 bits and 10 for 64. Zigzag maps 0, -1, 1, -2, 2 to 0, 1, 2, 3, 4, so that
// small negative numbers stay short. A value has exactly one accepted form: encodings that are
// longer than needed (a last byte of zero), that overflow the type, or that run past the end are
// refused.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace weir::base {

inline constexpr size_t kVarint32SizeMax = 5;
inline constexpr size_t kVarint64SizeMax = 10;

// A decoded value and the bytes it took. size == 0: malformed or cut short, the value is zero.
template <std::integral T>
struct Varint {
  T value = 0;
  uint8_t size = 0;
};

[[nodiscard]] constexpr uint32_t zigzag32(int32_t value) {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}
[[nodiscard]] constexpr uint64_t zigzag64(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
[[nodiscard]] constexpr int32_t unzigzag32(uint32_t value) {
  return static_cast<int32_t>((value >> 1) ^ (~(value & 1) + 1));
}
[[nodiscard]] constexpr int64_t unzigzag64(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

namespace varint_detail {

template <std::unsigned_integral T>
[[nodiscard]] constexpr Varint<T> load(std::span<const std::byte> from) {
  constexpr size_t kBits = sizeof(T) * 8;
  constexpr size_t kSizeMax = (kBits + 6) / 7;
  constexpr T kLastByteMax = (T{1} << (kBits - 7 * (kSizeMax - 1))) - 1;
  T value = 0;
  const size_t limit = from.size() < kSizeMax ? from.size() : kSizeMax;
  for (size_t i = 0; i < limit; ++i) {
    const T byte = static_cast<T>(std::to_integer<uint8_t>(from[i]));
    if (byte < 0x80) {
      if (byte == 0 && i > 0) return {};                              // longer than needed
      if (i == kSizeMax - 1 && byte > kLastByteMax) return {};        // overflow
      return {static_cast<T>(value | (byte << (7 * i))), static_cast<uint8_t>(i + 1)};
    }
    value |= static_cast<T>((byte & 0x7f) << (7 * i));
  }
  return {};
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr size_t size(T value) {
  return (static_cast<size_t>(std::bit_width(static_cast<T>(value | 1))) + 6) / 7;
}

template <std::unsigned_integral T>
constexpr size_t store(std::byte* to, T value) {
  size_t size = 0;
  while (value >= 0x80) {
    to[size++] = static_cast<std::byte>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  to[size++] = static_cast<std::byte>(value);
  return size;
}

}  // namespace varint_detail

// Loads look at no more than kVarint32SizeMax or kVarint64SizeMax bytes of the span.
[[nodiscard]] constexpr Varint<uint32_t> load_unsigned_varint32(std::span<const std::byte> from) {
  if (!from.empty() && std::to_integer<uint8_t>(from[0]) < 0x80) {
    return {std::to_integer<uint32_t>(from[0]), 1};
  }
  return varint_detail::load<uint32_t>(from);
}
[[nodiscard]] constexpr Varint<uint64_t> load_unsigned_varint64(std::span<const std::byte> from) {
  return varint_detail::load<uint64_t>(from);
}
[[nodiscard]] constexpr Varint<int32_t> load_varint32(std::span<const std::byte> from) {
  const auto raw = load_unsigned_varint32(from);
  return {unzigzag32(raw.value), raw.size};
}
[[nodiscard]] constexpr Varint<int64_t> load_varint64(std::span<const std::byte> from) {
  const auto raw = load_unsigned_varint64(from);
  return {unzigzag64(raw.value), raw.size};
}

[[nodiscard]] constexpr size_t unsigned_varint32_size(uint32_t value) {
  return varint_detail::size(value);
}
[[nodiscard]] constexpr size_t unsigned_varint64_size(uint64_t value) {
  return varint_detail::size(value);
}
[[nodiscard]] constexpr size_t varint32_size(int32_t value) {
  return varint_detail::size(zigzag32(value));
}
[[nodiscard]] constexpr size_t varint64_size(int64_t value) {
  return varint_detail::size(zigzag64(value));
}

// Stores need room for the value's size (at most kVarint32SizeMax or kVarint64SizeMax bytes) and
// return it.
constexpr size_t store_unsigned_varint32(std::byte* to, uint32_t value) {
  return varint_detail::store(to, value);
}
constexpr size_t store_unsigned_varint64(std::byte* to, uint64_t value) {
  return varint_detail::store(to, value);
}
constexpr size_t store_varint32(std::byte* to, int32_t value) {
  return varint_detail::store(to, zigzag32(value));
}
constexpr size_t store_varint64(std::byte* to, int64_t value) {
  return varint_detail::store(to, zigzag64(value));
}

}  // namespace weir::base
