// Loads and stores give the named byte order at any address; the cursors never leave their span and
// stay failed once they have.
#include "io/base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

namespace weir::base {
namespace {

std::array<std::byte, 12> counting_bytes() {
  std::array<std::byte, 12> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return bytes;
}

TEST(Bytes, LoadsInBothOrdersAtOddAddresses) {
  const auto bytes = counting_bytes();
  EXPECT_EQ(load_be<uint16_t>(&bytes[1]), 0x0203);
  EXPECT_EQ(load_le<uint16_t>(&bytes[1]), 0x0302);
  EXPECT_EQ(load_be<uint32_t>(&bytes[1]), 0x02030405u);
  EXPECT_EQ(load_le<uint32_t>(&bytes[1]), 0x05040302u);
  EXPECT_EQ(load_be<uint64_t>(&bytes[3]), 0x0405060708090a0bu);
  EXPECT_EQ(load_le<uint64_t>(&bytes[3]), 0x0b0a090807060504u);
  EXPECT_EQ(load_be<int8_t>(&bytes[0]), 1);
}

template <class T>
void expect_round_trip(T value) {
  std::array<std::byte, sizeof(T) + 2> bytes{};
  store_be(&bytes[1], value);
  EXPECT_EQ(load_be<T>(&bytes[1]), value);
  store_le(&bytes[1], value);
  EXPECT_EQ(load_le<T>(&bytes[1]), value);
  EXPECT_EQ(bytes.front(), std::byte{0});
  EXPECT_EQ(bytes.back(), std::byte{0});
}

TEST(Bytes, StoresWhatLoadsReadAndNothingElse) {
  for (const int value : {0, 1, -1, 127, -128}) {
    expect_round_trip(static_cast<int8_t>(value));
    expect_round_trip(static_cast<int16_t>(value));
    expect_round_trip(static_cast<int32_t>(value));
    expect_round_trip(static_cast<int64_t>(value));
  }
  expect_round_trip(std::numeric_limits<int16_t>::min());
  expect_round_trip(std::numeric_limits<int32_t>::min());
  expect_round_trip(std::numeric_limits<int64_t>::min());
  expect_round_trip(std::numeric_limits<uint64_t>::max());
}

TEST(ByteReader, ReadsFieldsInOrder) {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes);
  EXPECT_EQ(reader.read_be<uint16_t>(), 0x0102);
  EXPECT_EQ(reader.read_le<uint32_t>(), 0x06050403u);
  EXPECT_EQ(reader.position(), 6u);
  EXPECT_EQ(reader.read_bytes(6).size(), 6u);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.read_bytes(0).empty());
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, FailsForGoodOnTheFirstReadPastTheEnd) {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes);
  EXPECT_EQ(reader.read_bytes(9).size(), 9u);
  EXPECT_EQ(reader.read_be<uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.read_be<uint8_t>(), 0u);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(ByteReader({}).read_bytes(SIZE_MAX).empty());
}

TEST(ByteWriter, WritesFieldsAndRefusesWhatDoesNotFit) {
  std::array<std::byte, 7> bytes{};
  ByteWriter writer(bytes);
  writer.write_be<uint16_t>(0x0102);
  writer.write_le<uint32_t>(0x06050403);
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(writer.written().size(), 6u);
  writer.write_be<uint16_t>(0xffff);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(bytes[6], std::byte{0});
  writer.write_be<uint8_t>(1);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.position(), 6u);
  const auto expected = counting_bytes();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + 6, expected.begin()));
}

}  // namespace
}  // namespace weir::base
