// SipHash against the vectors that its authors publish with it.

#include "io/base/siphash.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "io/base/bytes.h"

namespace weir::base {
namespace {

constexpr SipKey kKey{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

std::vector<std::byte> counted(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

TEST(SipHash, gives_the_published_digests) {
  const Digest128 empty = siphash128(kKey, {});
  EXPECT_EQ(empty.low, 0xe6a825ba047f81a3ull);
  EXPECT_EQ(empty.high, 0x930255c71472f66dull);
  const Digest128 one = siphash128(kKey, counted(1));
  EXPECT_EQ(one.low, 0x44af996bd8c187daull);
  EXPECT_EQ(one.high, 0x45fc229b11597634ull);
}

TEST(SipHash, every_byte_and_the_length_count) {
  std::vector<Digest128> seen;
  for (size_t size = 0; size < 40; ++size) {
    auto bytes = counted(size);
    seen.push_back(siphash128(kKey, bytes));
    for (auto& byte : bytes) {
      byte ^= std::byte{1};
      seen.push_back(siphash128(kKey, bytes));
      byte ^= std::byte{1};
    }
  }
  seen.push_back(siphash128({kKey.low ^ 1, kKey.high}, {}));
  seen.push_back(siphash128({kKey.low, kKey.high ^ 1}, {}));
  for (size_t i = 0; i < seen.size(); ++i) {
    for (size_t j = 0; j < i; ++j) ASSERT_NE(seen[i], seen[j]) << i << " " << j;
  }
}

}  // namespace
}  // namespace weir::base
