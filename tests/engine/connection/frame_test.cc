// Proves that FrameReader gives the same frames for every way of cutting the stream, refuses
// lengths before it allocates, and holds no more memory than has arrived.

#include "engine/connection/frame.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "io/base/bytes.h"
#include "io/base/random.h"
#include "io/sim/sim_world.h"

namespace weir::connection {
namespace {

using Buffer = std::vector<std::byte>;
using Step = FrameReader::Step;

constexpr int16_t kProduce = 0;
constexpr int16_t kMetadata = 3;

Buffer frame_of(size_t size, int16_t key = kProduce, uint64_t seed = 1) {
  Buffer frame(4 + size);
  base::RandomStream random(seed);
  for (std::byte& byte : frame) byte = static_cast<std::byte>(random.below(256));
  base::store_be(frame.data(), static_cast<int32_t>(size));
  base::store_be(frame.data() + 4, key);
  return frame;
}

class FrameTest : public testing::Test {
 protected:
  std::unique_ptr<FrameReader> make_reader(size_t size_max = size_t{100} << 20) {
    return std::make_unique<FrameReader>(budget, size_max);
  }
  // Pushes everything, collects the frames.
  Step push_all(FrameReader& reader, std::span<const std::byte> data, std::vector<Buffer>& out) {
    while (!data.empty()) {
      const Step step = reader.push(data);
      if (step == Step::frame) take(reader, out);
      else if (step != Step::need_bytes) return step;
    }
    return Step::need_bytes;
  }
  void take(FrameReader& reader, std::vector<Buffer>& out) {
    Frame frame = reader.take();
    const auto bytes = frame.buffer.first(frame.size);
    out.emplace_back(bytes.begin(), bytes.end());
    budget.release(frame.reserved);
  }

  io::sim::SimWorld world{1};
  MemoryBudget budget{world.core(0).loop, size_t{256} << 20};
};

TEST_F(FrameTest, EveryCutGivesTheSameFrames) {
  Buffer stream;
  std::vector<Buffer> expected;
  for (const size_t size : {size_t{10}, size_t{11}, size_t{40}, size_t{25}}) {
    const Buffer frame = frame_of(size, kMetadata, size);
    expected.emplace_back(frame.begin() + 4, frame.end());
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  const std::span<const std::byte> all(stream);
  for (size_t first = 0; first <= all.size(); ++first) {
    for (size_t second = first; second <= all.size(); ++second) {
      const auto reader = make_reader();
      std::vector<Buffer> out;
      push_all(*reader, all.first(first), out);
      push_all(*reader, all.subspan(first, second - first), out);
      push_all(*reader, all.subspan(second), out);
      ASSERT_EQ(out, expected) << first << " " << second;
      EXPECT_FALSE(reader->in_frame());
    }
  }
  EXPECT_EQ(budget.size_used(), 0u);
}

TEST_F(FrameTest, LargeFramesArriveByEitherWay) {
  base::RandomStream random(3);
  for (const size_t size : {size_t{20'000}, kFrameSizeFirst, kFrameSizeFirst + 1, kFrameSizeAtOnce,
                            kFrameSizeAtOnce + 1, size_t{5'000'000}}) {
    const Buffer frame = frame_of(size);
    const Buffer expected(frame.begin() + 4, frame.end());
    for (const bool direct : {false, true}) {
      const auto reader = make_reader();
      std::span<const std::byte> rest(frame);
      std::vector<Buffer> out;
      while (out.empty()) {
        std::span<std::byte> place;
        ASSERT_EQ(reader->prepare_direct(place), Step::need_bytes);
        const size_t count = std::min<size_t>(1 + random.below(100'000), rest.size());
        if (direct && !place.empty()) {
          const size_t copied = std::min(count, place.size());
          std::memcpy(place.data(), rest.data(), copied);
          rest = rest.subspan(copied);
          if (reader->received(copied) == Step::frame) take(*reader, out);
        } else {
          push_all(*reader, rest.first(count), out);
          rest = rest.subspan(count);
        }
      }
      EXPECT_EQ(out[0], expected) << size;
    }
  }
  EXPECT_EQ(budget.size_used(), 0u);
}

TEST_F(FrameTest, ImpossibleLengthsAreRefusedAtFourBytes) {
  const int32_t limit = 1'000'000;
  for (const int32_t size :
       {INT32_MIN, -1, 0, 1, 9, limit + 1, INT32_MAX, 0x47455420, 0x16030100}) {
    const auto reader = make_reader(limit);
    std::byte field[4];
    base::store_be(field, size);
    std::vector<Buffer> out;
    EXPECT_EQ(push_all(*reader, field, out), Step::refused) << size;
    EXPECT_NE(reader->refusal(), nullptr);
    EXPECT_EQ(budget.size_used(), 0u);
  }
  for (const int32_t size : {10, limit}) {
    const auto reader = make_reader(limit);
    std::byte field[4];
    base::store_be(field, size);
    std::vector<Buffer> out;
    EXPECT_EQ(push_all(*reader, field, out), Step::need_bytes) << size;
    EXPECT_EQ(budget.size_used(), 0u);
  }
}

TEST_F(FrameTest, OnlyProduceMayBeHuge) {
  for (const int16_t key : {kMetadata, int16_t{-1}, int16_t{1000}}) {
    const auto reader = make_reader();
    Buffer start = frame_of(kOtherFrameSizeMax + 1, key);
    start.resize(8);
    std::vector<Buffer> out;
    EXPECT_EQ(push_all(*reader, start, out), Step::refused);
  }
}

TEST_F(FrameTest, AnnouncedBytesCostNothing) {
  std::vector<std::unique_ptr<FrameReader>> readers;
  Buffer start = frame_of(1000);
  base::store_be(start.data(), int32_t{100'000'000});
  std::vector<Buffer> out;
  for (int i = 0; i < 500; ++i) {
    readers.push_back(make_reader());
    EXPECT_EQ(push_all(*readers.back(), start, out), Step::need_bytes);
  }
  EXPECT_EQ(budget.size_used(), 500 * kFrameSizeFirst);
}

TEST_F(FrameTest, WaitsForMemoryAndGoesOn) {
  const auto first = make_reader();
  const auto second = make_reader();
  const Buffer frame = frame_of(size_t{90} << 20);
  const Buffer expected(frame.begin() + 4, frame.end());
  const auto head = std::span(frame).first(200'000);
  std::vector<Buffer> out;
  ASSERT_TRUE(budget.try_reserve(size_t{30} << 20));
  EXPECT_EQ(push_all(*first, head, out), Step::need_bytes);
  std::span<const std::byte> rest(frame);
  EXPECT_EQ(second->push(rest), Step::blocked);
  EXPECT_EQ(rest.size(), frame.size() - kFrameSizeFirst - 4);
  // The small ones still get through.
  const auto small = make_reader();
  EXPECT_EQ(push_all(*small, frame_of(1000), out), Step::need_bytes);
  EXPECT_EQ(out.size(), 1u);
  budget.release(size_t{30} << 20);
  ASSERT_TRUE(budget.try_reserve(second->memory_wanted()));
  second->grant(second->memory_wanted());
  EXPECT_EQ(push_all(*second, rest, out), Step::need_bytes);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1], expected);
}

TEST(MemoryBudget, GrantsInOrderAndKeepsRoomForSmallOnes) {
  io::sim::SimWorld world(1);
  const size_t size_max = size_t{8} << 20;
  MemoryBudget budget(world.core(0).loop, size_max);
  struct Client {
    Client(std::vector<int>& granted_order, int number) : order(granted_order), id(number) {
      waiter.bind<&Client::on_granted>(*this);
    }
    void on_granted() { order.push_back(id); }
    MemoryBudget::Waiter waiter;
    std::vector<int>& order;
    int id;
  };
  std::vector<int> order;
  Client a(order, 1), b(order, 2), c(order, 3);
  ASSERT_TRUE(budget.try_reserve(size_t{6} << 20));
  EXPECT_FALSE(budget.try_reserve(size_t{1} << 20));
  EXPECT_TRUE(budget.try_reserve(kSmallReservation));
  budget.wait(a.waiter, size_t{3} << 20);
  budget.wait(b.waiter, size_t{2} << 20);
  budget.wait(c.waiter, size_t{1} << 20);
  budget.release(kSmallReservation);
  budget.release(size_t{4} << 20);
  world.run_for(1'000'000);
  EXPECT_EQ(order, std::vector<int>({1}));
  EXPECT_FALSE(budget.try_reserve(size_t{1} << 20));  // no overtaking
  budget.cancel(b.waiter);
  world.run_for(1'000'000);
  EXPECT_EQ(order, std::vector<int>({1, 3}));
  EXPECT_EQ(budget.size_used(), size_t{6} << 20);
  budget.release(budget.size_used());
}

}  // namespace
}  // namespace weir::connection
