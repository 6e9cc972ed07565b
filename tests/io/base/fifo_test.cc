// Fifo against std::deque, and what it gives back.

#include "io/base/fifo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "io/base/random.h"

namespace weir::base {
namespace {

TEST(Fifo, does_what_a_deque_does) {
  RandomStream random(1, "fifo");
  Fifo<int> fifo;
  std::deque<int> deque;
  for (int i = 0; i < 20'000; ++i) {
    // Now long, now short, now empty.
    const uint64_t wanted = i / 500 % 4 == 3 ? 0 : static_cast<uint64_t>(i / 500 % 4) * 60;
    const uint64_t choice = random.below(10);
    if (choice == 0 && deque.size() > 3) {
      const auto at = static_cast<std::ptrdiff_t>(random.below(deque.size() - 2));
      const auto length = static_cast<std::ptrdiff_t>(random.below(3));
      fifo.erase(fifo.begin() + at, fifo.begin() + at + length);
      deque.erase(deque.begin() + at, deque.begin() + at + length);
    } else if (deque.size() < wanted || (choice < 4 && wanted > 0)) {
      fifo.push_back(i);
      deque.push_back(i);
    } else if (!deque.empty()) {
      ASSERT_EQ(fifo.front(), deque.front());
      fifo.pop_front();
      deque.pop_front();
    }
    ASSERT_EQ(fifo.size(), deque.size());
    ASSERT_EQ(fifo.empty(), deque.empty());
    ASSERT_TRUE(std::ranges::equal(fifo, deque));
    ASSERT_TRUE(std::equal(fifo.rbegin(), fifo.rend(), deque.rbegin(), deque.rend()));
    if (deque.empty()) continue;
    ASSERT_EQ(fifo.back(), deque.back());
  }
}

TEST(Fifo, is_moved_whole) {
  Fifo<int> from;
  for (int i = 0; i < 5; ++i) from.push_back(i);
  from.pop_front();
  Fifo<int> to = std::move(from);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(to.size(), 4u);
  EXPECT_EQ(to.front(), 1);
  from = std::exchange(to, {});
  EXPECT_TRUE(to.empty());
  EXPECT_EQ(from.front(), 1);
  const Fifo<int> copy = from;
  EXPECT_TRUE(std::ranges::equal(copy, from));
}

TEST(Fifo, what_was_taken_is_not_kept) {
  Fifo<std::shared_ptr<int>> fifo;
  const auto watched = std::make_shared<int>(1);
  for (int i = 0; i < 8; ++i) fifo.push_back(watched);
  for (int i = 0; i < 4; ++i) fifo.pop_front();
  EXPECT_EQ(watched.use_count(), 5);
  fifo.clear();
  EXPECT_EQ(watched.use_count(), 1);
}

}  // namespace
}  // namespace weir::base
