// Every value has one encoding and one size; all other byte strings are refused (RELIABILITY F39).
// Tables at every length boundary, plus an exhaustive walk over all strings of up to two bytes.
#include "io/base/varint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace weir::base {
namespace {

using Buffer = std::vector<std::byte>;

Buffer bytes_of(std::initializer_list<int> values) {
  Buffer buffer;
  for (const int value : values) buffer.push_back(static_cast<std::byte>(value));
  return buffer;
}

TEST(Varint, Unsigned32AtEveryLengthBoundary) {
  for (int bits = 0; bits <= 32; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (const uint64_t value : {power - 1, power, power + 1}) {
      if (value > UINT32_MAX) continue;
      const auto narrow = static_cast<uint32_t>(value);
      std::array<std::byte, kVarint32SizeMax> buffer{};
      const size_t size = store_unsigned_varint32(buffer.data(), narrow);
      EXPECT_EQ(size, unsigned_varint32_size(narrow));
      const auto loaded = load_unsigned_varint32(std::span(buffer).first(size));
      EXPECT_EQ(loaded.size, size);
      EXPECT_EQ(loaded.value, narrow);
      for (size_t cut = 0; cut < size; ++cut) {
        EXPECT_EQ(load_unsigned_varint32(std::span(buffer).first(cut)).size, 0);
      }
    }
  }
}

TEST(Varint, Unsigned64AtEveryLengthBoundary) {
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (const uint64_t value : {power - 1, power, power + 1, ~power, UINT64_MAX}) {
      std::array<std::byte, kVarint64SizeMax> buffer{};
      const size_t size = store_unsigned_varint64(buffer.data(), value);
      EXPECT_EQ(size, unsigned_varint64_size(value));
      const auto loaded = load_unsigned_varint64(std::span(buffer).first(size));
      EXPECT_EQ(loaded.size, size);
      EXPECT_EQ(loaded.value, value);
      for (size_t cut = 0; cut < size; ++cut) {
        EXPECT_EQ(load_unsigned_varint64(std::span(buffer).first(cut)).size, 0);
      }
    }
  }
}

TEST(Varint, KnownEncodings) {
  const struct {
    int64_t value;
    Buffer bytes;
  } table[] = {
      {0, bytes_of({0x00})},
      {-1, bytes_of({0x01})},
      {1, bytes_of({0x02})},
      {-2, bytes_of({0x03})},
      {63, bytes_of({0x7e})},
      {-64, bytes_of({0x7f})},
      {64, bytes_of({0x80, 0x01})},
      {-65, bytes_of({0x81, 0x01})},
      {INT32_MAX, bytes_of({0xfe, 0xff, 0xff, 0xff, 0x0f})},
      {INT32_MIN, bytes_of({0xff, 0xff, 0xff, 0xff, 0x0f})},
      {INT64_MAX, bytes_of({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})},
      {INT64_MIN, bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})},
  };
  for (const auto& row : table) {
    Buffer buffer(kVarint64SizeMax);
    buffer.resize(store_varint64(buffer.data(), row.value));
    EXPECT_EQ(buffer, row.bytes) << row.value;
    EXPECT_EQ(varint64_size(row.value), row.bytes.size());
    EXPECT_EQ(load_varint64(row.bytes).value, row.value);
    EXPECT_EQ(load_varint64(row.bytes).size, row.bytes.size());
    if (row.value < INT32_MIN || row.value > INT32_MAX) continue;
    const auto narrow = static_cast<int32_t>(row.value);
    Buffer buffer32(kVarint32SizeMax);
    buffer32.resize(store_varint32(buffer32.data(), narrow));
    EXPECT_EQ(buffer32, row.bytes);
    EXPECT_EQ(varint32_size(narrow), row.bytes.size());
    EXPECT_EQ(load_varint32(row.bytes).value, narrow);
  }
}

TEST(Varint, RefusesOverlongOverflowingAndEndless) {
  const Buffer refused32[] = {
      bytes_of({}),
      bytes_of({0x80}),
      bytes_of({0x80, 0x00}),                          // zero in two bytes
      bytes_of({0xff, 0x00}),                          // 127 in two bytes
      bytes_of({0x80, 0x80, 0x80, 0x80, 0x00}),        // zero in five
      bytes_of({0xff, 0xff, 0xff, 0xff, 0x10}),        // bit 32
      bytes_of({0xff, 0xff, 0xff, 0xff, 0x7f}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0x8f}),        // five bytes and more to come
      bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x00}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}),
  };
  for (const Buffer& bytes : refused32) {
    EXPECT_EQ(load_unsigned_varint32(bytes).size, 0);
    EXPECT_EQ(load_unsigned_varint32(bytes).value, 0u);
    EXPECT_EQ(load_varint32(bytes).size, 0);
  }
  const Buffer refused64[] = {
      bytes_of({}),
      bytes_of({0x80, 0x00}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}),  // bit 64
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}),
      bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00}),
  };
  for (const Buffer& bytes : refused64) {
    EXPECT_EQ(load_unsigned_varint64(bytes).size, 0);
    EXPECT_EQ(load_varint64(bytes).size, 0);
  }
}

TEST(Varint, AcceptsExactlyTheShortestFormOfAllTwoByteStrings) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const Buffer bytes = bytes_of({first, second});
      const auto loaded = load_unsigned_varint32(bytes);
      if (first < 0x80) {
        EXPECT_EQ(loaded.size, 1);
      } else {
        EXPECT_EQ(loaded.size, second > 0 && second < 0x80 ? 2 : 0);
      }
      if (loaded.size == 0) continue;
      std::array<std::byte, kVarint32SizeMax> again{};
      ASSERT_EQ(store_unsigned_varint32(again.data(), loaded.value), loaded.size);
      EXPECT_TRUE(std::equal(again.begin(), again.begin() + loaded.size, bytes.begin()));
    }
  }
}

TEST(Varint, ReadsNoFurtherThanTheValue) {
  const Buffer bytes = bytes_of({0x96, 0x01, 0xff, 0xff});
  EXPECT_EQ(load_unsigned_varint32(bytes).value, 150u);
  EXPECT_EQ(load_unsigned_varint32(bytes).size, 2);
}

TEST(Varint, ZigzagKeepsExtremes) {
  static_assert(zigzag32(INT32_MIN) == UINT32_MAX && unzigzag32(UINT32_MAX) == INT32_MIN);
  static_assert(zigzag64(INT64_MIN) == UINT64_MAX && unzigzag64(UINT64_MAX) == INT64_MIN);
  static_assert(zigzag32(INT32_MAX) == UINT32_MAX - 1 && unzigzag32(0) == 0);
}

}  // namespace
}  // namespace weir::base
