// Proves that groups land in the partition of __consumer_offsets where Kafka puts them; the
// expected values are those of Java's String.hashCode.

#include "engine/group/group_partition.h"

#include <gtest/gtest.h>

namespace weir::group {

TEST(GroupPartition, HashIsJavas) {
  EXPECT_EQ(java_string_hash(""), 0);
  EXPECT_EQ(java_string_hash("a"), 97);
  EXPECT_EQ(java_string_hash("hello"), 99162322);
  EXPECT_EQ(java_string_hash("my-group"), -1906497762);
  // "é" is U+00E9, one unit.
  EXPECT_EQ(java_string_hash("\xc3\xa9"), 0xe9);
  // U+1F600 is the surrogate pair D83D DE00.
  EXPECT_EQ(java_string_hash("\xf0\x9f\x98\x80"), 0xd83d * 31 + 0xde00);
  // The text whose hash has no positive counterpart.
  EXPECT_EQ(java_string_hash("polygenelubricants"), INT32_MIN);
}

TEST(GroupPartition, AbsoluteValueIsKafkas) {
  EXPECT_EQ(offsets_partition_of("polygenelubricants", 50).value(), 0);
  EXPECT_EQ(offsets_partition_of("hello", 50).value(), 22);
  EXPECT_EQ(offsets_partition_of("", 50).value(), 0);
}

TEST(GroupPartition, LengthCountsUtf16Units) {
  EXPECT_EQ(utf16_length("abc"), 3u);
  EXPECT_EQ(utf16_length("\xc3\xa9"), 1u);
  EXPECT_EQ(utf16_length("\xe2\x82\xac"), 1u);
  EXPECT_EQ(utf16_length("\xf0\x9f\x98\x80"), 2u);
  EXPECT_EQ(utf16_length(std::string_view("a\0b", 3)), 3u);
  // Bytes that are no text count one by one instead of being read past their end.
  EXPECT_EQ(utf16_length("\xf0\x9f"), 2u);
  EXPECT_EQ(utf16_length("\xff"), 1u);
}

}  // namespace weir::group
