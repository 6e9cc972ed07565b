// Uuids print as Kafka prints them and parse back only from that form.
#include "io/base/uuid.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace weir::base {
namespace {

Uuid counting_uuid() {
  Uuid uuid;
  for (size_t i = 0; i < uuid.bytes.size(); ++i) uuid.bytes[i] = static_cast<std::byte>(i);
  return uuid;
}

TEST(Uuid, ZeroIsTheDefault) {
  EXPECT_TRUE(Uuid{}.is_zero());
  EXPECT_EQ(Uuid::zero(), Uuid{});
  EXPECT_EQ(Uuid{}.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
  EXPECT_FALSE(counting_uuid().is_zero());
}

TEST(Uuid, KnownTexts) {
  EXPECT_EQ(counting_uuid().to_string(), "AAECAwQFBgcICQoLDA0ODw");
  Uuid ones;
  ones.bytes.fill(std::byte{0xff});
  EXPECT_EQ(ones.to_string(), "_____________________w");
  Uuid mixed;
  mixed.bytes.fill(std::byte{0xfb});
  EXPECT_EQ(mixed.to_string(), "-_v7-_v7-_v7-_v7-_v7-w");
}

TEST(Uuid, ParsesWhatItPrints) {
  Uuid uuid = counting_uuid();
  for (int i = 0; i < 1000; ++i) {
    for (std::byte& byte : uuid.bytes) {
      byte = static_cast<std::byte>(std::to_integer<int>(byte) * 167 + i + 13);
    }
    EXPECT_EQ(Uuid::parse(uuid.to_string()), uuid);
  }
}

TEST(Uuid, RefusesEverythingElse) {
  EXPECT_EQ(Uuid::parse(""), std::nullopt);
  EXPECT_EQ(Uuid::parse("AAAAAAAAAAAAAAAAAAAAA"), std::nullopt);     // 21
  EXPECT_EQ(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAAA"), std::nullopt);   // 23
  EXPECT_EQ(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAB"), std::nullopt);    // bits beyond the 128th
  EXPECT_EQ(Uuid::parse("AAAAAAAAAAAAAAAAAAAA=="), std::nullopt);
  EXPECT_EQ(Uuid::parse("AAAAAAAAAA+AAAAAAAAAAA"), std::nullopt);
  EXPECT_EQ(Uuid::parse("AAAAAAAAAA/AAAAAAAAAAA"), std::nullopt);
  EXPECT_NE(Uuid::parse("AAAAAAAAAA-_AAAAAAAAAA"), std::nullopt);
}

TEST(Uuid, HashTellsSingleBitsApart) {
  std::unordered_set<size_t> hashes;
  for (size_t byte = 0; byte < 16; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      Uuid uuid;
      uuid.bytes[byte] = static_cast<std::byte>(1 << bit);
      hashes.insert(std::hash<Uuid>{}(uuid));
    }
  }
  EXPECT_EQ(hashes.size(), 128u);
}

TEST(Uuid, OrdersByBytes) {
  Uuid small;
  Uuid large;
  small.bytes[15] = std::byte{0xff};
  large.bytes[0] = std::byte{1};
  EXPECT_LT(small, large);
}

}  // namespace
}  // namespace weir::base
