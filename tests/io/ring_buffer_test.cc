// RingBuffer and SleepFlag: bounds on one thread; order, visibility and wake-ups between two
// threads, where the thread sanitizer looks on.

#include "io/base/ring_buffer.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>
#include <vector>

namespace weir::base {
namespace {

TEST(RingBuffer, HoldsWhatItsCapacitySays) {
  RingBuffer<int> ring(4);
  int values[5] = {0, 1, 2, 3, 4};
  EXPECT_EQ(ring.pop(), nullptr);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(values[i]));
    EXPECT_TRUE(ring.full());
    EXPECT_FALSE(ring.push(values[4]));
    EXPECT_EQ(ring.size(), 4u);
    EXPECT_EQ(ring.pop(), &values[0]);
    EXPECT_TRUE(ring.push(values[4]));
    for (int i = 1; i < 5; ++i) EXPECT_EQ(ring.pop(), &values[i]);
    EXPECT_EQ(ring.pop(), nullptr);
    EXPECT_FALSE(ring.full());
  }
}

TEST(RingBufferDeathTest, WantsAPowerOfTwo) { EXPECT_DEATH(RingBuffer<int>(3), "power of two"); }

TEST(RingBuffer, KeepsOrderAndContentBetweenThreads) {
  constexpr size_t kCount = 200'000;
  RingBuffer<size_t> ring(64);
  std::vector<size_t> values(kCount);
  std::thread producer([&] {
    for (size_t i = 0; i < kCount; ++i) {
      values[i] = i * 3;  // plain: the push must publish it
      while (!ring.push(values[i])) std::this_thread::yield();
    }
  });
  for (size_t i = 0; i < kCount; ++i) {
    size_t* value = nullptr;
    while ((value = ring.pop()) == nullptr) std::this_thread::yield();
    ASSERT_EQ(value, &values[i]);
    ASSERT_EQ(*value, i * 3);
    *value = 0;  // the consumer owns it now
  }
  producer.join();
  EXPECT_EQ(ring.size(), 0u);
}

// The consumer sleeps whenever it finds nothing. A lost wake-up would hang the test; a needless one
// would show in the count.
TEST(SleepFlag, NoWakeUpIsLost) {
  constexpr size_t kCount = 20'000;
  RingBuffer<size_t> ring(256);
  SleepFlag flag;
  std::binary_semaphore signal(0);
  std::vector<size_t> values(kCount);
  size_t signals = 0;  // the producer's
  size_t sleeps = 0;   // the consumer's
  std::thread producer([&] {
    for (size_t i = 0; i < kCount; ++i) {
      values[i] = i;
      while (!ring.push(values[i])) std::this_thread::yield();
      if (flag.claim()) {
        ++signals;
        signal.release();
      }
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  size_t received = 0;
  while (received < kCount) {
    while (size_t* value = ring.pop()) {
      ASSERT_EQ(*value, received++);
    }
    if (received == kCount) break;
    flag.announce();
    if (ring.size() > 0) {
      // Awake after all; a producer that claimed meanwhile has signalled or will.
      if (!flag.claim()) signal.acquire();
      continue;
    }
    ++sleeps;
    signal.acquire();
  }
  producer.join();
  EXPECT_LE(sleeps, signals + 1);
  EXPECT_LE(signals, kCount);
}

}  // namespace
}  // namespace weir::base
