// Proves: the checksum is CRC-32C (vectors of RFC 3720 and of the field), may be continued, and two
// checksums combine to the one of both texts together.
#include "io/base/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "io/base/bytes.h"
#include "io/base/random.h"

namespace weir::base {
namespace {

uint32_t crc(std::string_view text) { return crc32c(as_bytes(text)); }

TEST(Crc32c, known_vectors) {
  EXPECT_EQ(crc(""), 0u);
  EXPECT_EQ(crc("a"), 0xC1D04330u);
  EXPECT_EQ(crc("123456789"), 0xE3069283u);
  std::vector<std::byte> bytes(32, std::byte{0});
  EXPECT_EQ(crc32c(bytes), 0x8A9136AAu);
  std::ranges::fill(bytes, std::byte{0xFF});
  EXPECT_EQ(crc32c(bytes), 0x62A8AB43u);
  for (size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46DD794Eu);
  for (size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
  EXPECT_EQ(crc32c(bytes), 0x113FDB5Cu);
}

// Bit by bit, as the definition says.
uint32_t by_definition(std::span<const std::byte> bytes) {
  uint32_t remainder = 0xFFFFFFFFu;
  for (const std::byte byte : bytes) {
    remainder ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) ? 0x82F63B78u : 0);
    }
  }
  return ~remainder;
}

std::vector<std::byte> draw(RandomStream& random, size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

TEST(Crc32c, is_what_the_definition_gives_for_every_short_length_and_alignment) {
  RandomStream random(1);
  const auto bytes = draw(random, 700);
  for (size_t from = 0; from < 17; ++from) {
    for (size_t size = 0; size < 600; size += from + 1) {
      const auto part = std::span(bytes).subspan(from, size);
      ASSERT_EQ(crc32c(part), by_definition(part)) << from << " " << size;
    }
  }
}

TEST(Crc32c, random_splits_continue_and_combine) {
  RandomStream random(2);
  for (int round = 0; round < 500; ++round) {
    const auto bytes = draw(random, random.below(5'000));
    const size_t split = random.below(bytes.size() + 1);
    const auto front = std::span(bytes).first(split);
    const auto back = std::span(bytes).subspan(split);
    const uint32_t whole = crc32c(bytes);
    ASSERT_EQ(crc32c(back, crc32c(front)), whole);
    ASSERT_EQ(crc32c_combine(crc32c(front), crc32c(back), back.size()), whole);
  }
}

TEST(Crc32c, combines_over_large_sizes) {
  // 64 MiB of zeros behind a text, without touching them: the sum of zeros by doubling.
  uint32_t zeros = crc32c(std::vector<std::byte>(1, std::byte{0}));
  for (uint64_t size = 1; size < 64 << 20; size *= 2) zeros = crc32c_combine(zeros, zeros, size);
  const uint32_t combined = crc32c_combine(crc("text"), zeros, 64 << 20);
  uint32_t direct = crc("text");
  const std::vector<std::byte> block(1 << 20);
  for (int i = 0; i < 64; ++i) direct = crc32c(block, direct);
  EXPECT_EQ(combined, direct);
}

}  // namespace
}  // namespace weir::base
