// OffsetMap: the last offset of each key, and never more memory than allowed.

#include "engine/log/offset_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "io/base/bytes.h"
#include "io/base/random.h"

namespace weir::log {
namespace {

constexpr base::SipKey kSecret{11, 22};

std::span<const std::byte> key(const std::string& text) { return base::as_bytes(text); }

TEST(OffsetMap, knows_the_last_offset_of_each_key) {
  OffsetMap map;
  map.begin(kSecret, 1000, size_t{1} << 20);
  std::map<std::string, int64_t> model;
  base::RandomStream random(1);
  for (int64_t offset = 0; offset < 5000; ++offset) {
    const std::string name = std::to_string(random.below(1000));
    ASSERT_TRUE(map.put(key(name), model::Offset(offset)));
    model[name] = offset;
  }
  EXPECT_EQ(map.size(), model.size());
  for (const auto& [name, offset] : model) EXPECT_EQ(map.find(key(name)).value(), offset);
  EXPECT_EQ(map.find(key("1000")), model::kNoOffset);
  EXPECT_EQ(map.find({}), model::kNoOffset);
}

TEST(OffsetMap, the_empty_key_is_a_key) {
  OffsetMap map;
  map.begin(kSecret, 1, 0);
  ASSERT_TRUE(map.put({}, model::Offset(0)));
  EXPECT_EQ(map.find({}).value(), 0);
}

TEST(OffsetMap, is_full_at_its_limit_and_still_takes_known_keys) {
  OffsetMap map;
  map.begin(kSecret, uint64_t{1} << 40, OffsetMap::kMemoryMin);
  EXPECT_LE(map.memory_bytes(), OffsetMap::kMemoryMin);
  const size_t keys = map.keys_max();
  EXPECT_GT(keys, 2000u);
  int64_t offset = 0;
  for (size_t i = 0; i < keys; ++i) {
    ASSERT_TRUE(map.put(key(std::to_string(i)), model::Offset(offset++))) << i;
  }
  EXPECT_FALSE(map.put(key("one more"), model::Offset(offset)));
  EXPECT_EQ(map.find(key("one more")), model::kNoOffset);
  EXPECT_TRUE(map.put(key("0"), model::Offset(offset)));
  EXPECT_EQ(map.find(key("0")).value(), offset);
}

TEST(OffsetMap, takes_what_is_wanted_and_no_more_than_allowed) {
  OffsetMap map;
  map.begin(kSecret, 10, size_t{1} << 30);
  EXPECT_LE(map.memory_bytes(), OffsetMap::kMemoryMin) << "few keys, little memory";
  map.begin(kSecret, 100'000, size_t{1} << 30);
  EXPECT_GE(map.keys_max(), 100'000u);
  EXPECT_LT(map.memory_bytes(), size_t{4} << 20);
  map.begin(kSecret, 100'000, size_t{1} << 20);
  EXPECT_LE(map.memory_bytes(), size_t{1} << 20);
  map.begin(kSecret, 100, 0);
  EXPECT_GE(map.keys_max(), 100u) << "a limit too small for anything is kMemoryMin";
  map.clear();
  EXPECT_EQ(map.memory_bytes(), 0u);
}

}  // namespace
}  // namespace weir::log
