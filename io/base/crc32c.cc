#include "io/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <limits>

namespace weir::base {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected Castagnoli

// Product of two polynomials modulo the CRC polynomial, both in reflected bit order.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b & 1) ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// powers[k] = x^(8 * 2^k): appending 2^k zero bytes multiplies a remainder by it.
constexpr auto kBytePowers = [] {
  std::array<uint32_t, 40> powers{};
  uint32_t power = 1u << 23;  // x^8 in reflected order
  for (auto& entry : powers) {
    entry = power;
    power = multiply(power, power);
  }
  return powers;
}();

}  // namespace

uint32_t crc32c(std::span<const std::byte> data, uint32_t previous) {
  // libisal works on the raw remainder and takes the length as int.
  uint32_t remainder = ~previous;
  while (!data.empty()) {
    const size_t size = std::min<size_t>(data.size(), std::numeric_limits<int>::max());
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data.data()));
    remainder = crc32_iscsi(bytes, static_cast<int>(size), remainder);
    data = data.subspan(size);
  }
  return ~remainder;
}

uint32_t crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b) {
  for (size_t k = 0; size_b != 0; ++k, size_b >>= 1) {
    if (size_b & 1) crc_a = multiply(kBytePowers[k], crc_a);
  }
  return crc_a ^ crc_b;
}

}  // namespace weir::base
