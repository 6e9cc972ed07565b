// Every code point in its one form passes; every other string of up to four bytes fails. Checked by
// encoding all code points and by walking all two-byte strings and the edges of longer ones.
#include "engine/wire/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace weir::wire {
namespace {

std::string utf8(uint32_t code) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 63))};
  if (code < 0x10000) {
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
  }
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
          byte(0x80 | (code & 63))};
}

TEST(Utf8, AllCodePointsButSurrogates) {
  for (uint32_t code = 0; code < 0x120000; ++code) {
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    ASSERT_EQ(is_utf8(utf8(code)), !surrogate && code < 0x110000) << code;
  }
}

TEST(Utf8, TwoByteStrings) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second)};
      const bool ascii = first < 0x80 && second < 0x80;
      const bool pair = first >= 0xc2 && first < 0xe0 && second >= 0x80 && second < 0xc0;
      ASSERT_EQ(is_utf8(text), ascii || pair);
    }
  }
}

TEST(Utf8, OverlongAndCutSequences) {
  for (const char* const bad :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "\x80", "\xff",
        "\xe2\x28\xa1", "\xf0\x28\x8c\xbc"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_FALSE(is_utf8(std::string("12345678") + bad));
    EXPECT_FALSE(is_utf8(std::string("1234567") + bad + "12345678"));
  }
}

TEST(Utf8, AnyMixOfLengths) {
  for (size_t ascii = 0; ascii < 20; ++ascii) {
    EXPECT_TRUE(is_utf8(std::string(ascii, 'a') + "é" + std::string(ascii, 'b') + "😀"));
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string(8, '\0')));
}

}  // namespace
}  // namespace weir::wire
