#pragma once
// A 16-byte identifier as Kafka uses it for topics: any bit pattern, all zero meaning none, written
// for people as 22 characters of base64url without padding.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir::base {

struct Uuid {
  static constexpr size_t kTextSize = 22;

  std::array<std::byte, 16> bytes{};  // in wire order

  [[nodiscard]] static constexpr Uuid zero() { return {}; }
  [[nodiscard]] constexpr bool is_zero() const { return *this == zero(); }

  friend constexpr bool operator==(const Uuid&, const Uuid&) = default;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;

  [[nodiscard]] constexpr std::array<char, kTextSize> text() const;
  [[nodiscard]] std::string to_string() const {
    const auto characters = text();
    return {characters.data(), characters.size()};
  }
  // Exactly what text() gives, nothing else: 22 characters, unused low bits of the last one zero.
  [[nodiscard]] static constexpr std::optional<Uuid> parse(std::string_view text);
};

namespace uuid_detail {

inline constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// 0..63, or -1 for a character outside the alphabet.
[[nodiscard]] constexpr int value_of(char character) {
  const size_t at = kAlphabet.find(character);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace uuid_detail

// 128 bits are 21 groups of six and one of two; the last character carries those two on top.
constexpr std::array<char, Uuid::kTextSize> Uuid::text() const {
  std::array<char, kTextSize> out{};
  uint32_t bits = 0;
  int count = 0;
  size_t next = 0;
  for (const std::byte byte : bytes) {
    bits = (bits << 8) | std::to_integer<uint32_t>(byte);
    count += 8;
    while (count >= 6) {
      count -= 6;
      out[next++] = uuid_detail::kAlphabet[(bits >> count) & 63];
    }
  }
  out[next] = uuid_detail::kAlphabet[(bits << (6 - count)) & 63];
  return out;
}

constexpr std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid uuid;
  uint32_t bits = 0;
  int count = 0;
  size_t next = 0;
  for (const char character : text) {
    const int value = uuid_detail::value_of(character);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      uuid.bytes[next++] = static_cast<std::byte>((bits >> count) & 0xff);
    }
  }
  if ((bits & ((1u << count) - 1)) != 0) return std::nullopt;
  return uuid;
}

}  // namespace weir::base

template <>
struct std::hash<weir::base::Uuid> {
  // Random ids need little mixing; ids made by hand differ in a few bits, so both halves are mixed.
  size_t operator()(const weir::base::Uuid& uuid) const noexcept {
    uint64_t halves[2];
    std::memcpy(halves, uuid.bytes.data(), sizeof(halves));
    uint64_t mixed = halves[0] * 0x9e3779b97f4a7c15u;
    mixed = ((mixed ^ (mixed >> 32)) + halves[1]) * 0xbf58476d1ce4e5b9u;
    return static_cast<size_t>(mixed ^ (mixed >> 29));
  }
};
