// The chain keeps order between written and external bytes whatever their sizes, and a full arena
// ends in failure, not in a short chain.
#include "engine/wire/chain_writer.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using testing::Buffer;
using testing::flatten;

TEST(ChainWriter, WritesBigEndianInOrder) {
  base::Arena arena(1 << 20);
  ChainWriter out(arena);
  out.put(int8_t{1});
  out.put(int16_t{0x0203});
  out.put(int32_t{0x04050607});
  out.put(int64_t{0x08090a0b0c0d0e0f});
  out.put_unsigned_varint(300);
  EXPECT_EQ(out.size(), 17u);
  EXPECT_EQ(testing::to_hex(flatten(out.pieces())), "0102030405060708090a0b0c0d0e0fac02");
  EXPECT_EQ(out.pieces().size(), 1u);
}

TEST(ChainWriter, NothingWrittenIsNoPiece) {
  base::Arena arena(1 << 20);
  ChainWriter out(arena);
  out.put_bytes({});
  out.put_pieces({});
  const Bytes empty[] = {Bytes{}, Bytes{}};
  out.put_pieces(empty);
  EXPECT_TRUE(out.pieces().empty());
  EXPECT_EQ(out.size(), 0u);
  EXPECT_FALSE(out.failed());
}

TEST(ChainWriter, PlaceholdersStayWhereTheyWere) {
  base::Arena arena(1 << 20);
  ChainWriter out(arena);
  std::byte* const size = out.put_placeholder32();
  const Buffer much(100'000, std::byte{1});
  out.put_bytes(much);
  base::store_be(size, uint32_t{0xcafe});
  const Buffer flat = flatten(out.pieces());
  EXPECT_EQ(base::load_be<uint32_t>(flat.data()), 0xcafeu);
  EXPECT_EQ(flat.size(), 100'004u);
}

TEST(ChainWriter, RandomWritesComeOutAsGiven) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    base::Arena arena(1 << 24);
    ChainWriter out(arena);
    SizeWriter counted;
    Buffer expected;
    std::vector<std::pair<Buffer, std::vector<Bytes>>> external;
    external.reserve(200);
    for (int i = 0; i < 200; ++i) {
      Buffer bytes(random() % (i % 20 == 0 ? 5000 : 40), static_cast<std::byte>(i));
      expected.insert(expected.end(), bytes.begin(), bytes.end());
      if (random() % 3 == 0) {
        external.emplace_back(std::move(bytes), std::vector<Bytes>{});
        auto& [buffer, pieces] = external.back();
        const size_t cut = buffer.size() / 3;
        pieces = {Bytes(buffer).first(cut), Bytes(buffer).subspan(cut)};
        out.put_pieces(pieces);
        counted.put_pieces(pieces);
      } else {
        out.put_bytes(bytes);
        counted.put_bytes(bytes);
      }
    }
    EXPECT_EQ(out.size(), expected.size());
    EXPECT_EQ(counted.size(), expected.size());
    EXPECT_EQ(flatten(out.pieces()), expected);
  }
}

TEST(ChainWriter, AFullArenaFailsForGood) {
  for (size_t budget = 0; budget < 3000; budget += 100) {
    base::Arena arena(budget, 128);
    ChainWriter out(arena);
    const Buffer big(700, std::byte{1});
    const Bytes piece[] = {Bytes(big)};
    for (int i = 0; i < 10; ++i) {
      out.put(int64_t{i});
      out.put_unsigned_varint(UINT32_MAX);
      out.put_bytes(big);
      out.put_pieces(piece);
      base::store_be(out.put_placeholder32(), uint32_t{0});
    }
    EXPECT_TRUE(out.failed());
    EXPECT_TRUE(out.pieces().empty());
  }
}

}  // namespace
}  // namespace weir::wire
