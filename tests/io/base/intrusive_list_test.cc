// Proves: the list keeps order through every removal, an element knows whether it is in one, and
// hooks of several lists in one element do not mix.
#include "io/base/intrusive_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "io/base/random.h"

namespace weir::base {
namespace {

struct Item : ListHook {
  explicit Item(int its_number) : number(its_number) {}
  int number;
};

struct Both : TaggedHook<0>, TaggedHook<1> {
  int number = 0;
};

std::vector<int> numbers(IntrusiveList<Item>& list) {
  std::vector<int> all;
  if (list.empty()) return all;
  for (Item* item = &list.front(); item != nullptr; item = list.next(*item)) {
    all.push_back(item->number);
  }
  return all;
}

TEST(IntrusiveList, random_operations_beside_a_deque) {
  RandomStream random(1);
  std::vector<std::unique_ptr<Item>> items;
  for (int i = 0; i < 20; ++i) items.push_back(std::make_unique<Item>(i));
  IntrusiveList<Item> list;
  std::deque<int> model;
  for (int step = 0; step < 5'000; ++step) {
    Item& item = *items[random.below(items.size())];
    ASSERT_EQ(item.linked(), std::ranges::count(model, item.number) == 1);
    if (random.chance(0.1)) {
      Item* front = list.pop_front();
      ASSERT_EQ(front == nullptr, model.empty());
      if (!front) continue;
      ASSERT_EQ(front->number, model.front());
      model.pop_front();
    } else if (item.linked()) {
      item.unlink();
      std::erase(model, item.number);
    } else {
      list.push_back(item);
      model.push_back(item.number);
      ASSERT_EQ(list.back().number, item.number);
    }
    ASSERT_TRUE(std::ranges::equal(numbers(list), model));
  }
  for (const auto& item : items) item->unlink();
  EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, unlinking_twice_is_harmless) {
  IntrusiveList<Item> list;
  Item item(1);
  item.unlink();
  list.push_back(item);
  item.unlink();
  item.unlink();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(IntrusiveList, splices_in_order) {
  IntrusiveList<Item> a;
  IntrusiveList<Item> b;
  Item items[] = {Item(1), Item(2), Item(3), Item(4)};
  a.push_back(items[0]);
  a.push_back(items[1]);
  b.push_back(items[2]);
  b.push_back(items[3]);
  a.splice_back(b);
  EXPECT_EQ(numbers(a), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(b.empty());
  a.splice_back(b);
  EXPECT_EQ(numbers(a).size(), 4u);
  for (Item& item : items) item.unlink();
}

TEST(IntrusiveList, one_element_in_two_lists) {
  IntrusiveList<Both, TaggedHook<0>> first;
  IntrusiveList<Both, TaggedHook<1>> second;
  Both a;
  Both b;
  a.number = 1;
  b.number = 2;
  first.push_back(a);
  first.push_back(b);
  second.push_back(b);
  second.push_back(a);
  EXPECT_EQ(first.front().number, 1);
  EXPECT_EQ(second.front().number, 2);
  a.TaggedHook<0>::unlink();
  EXPECT_EQ(&first.front(), &b);
  EXPECT_EQ(second.next(b), &a);
  EXPECT_EQ(second.next(a), nullptr);
  b.TaggedHook<0>::unlink();
  b.TaggedHook<1>::unlink();
  a.TaggedHook<1>::unlink();
}

}  // namespace
}  // namespace weir::base
