// Proves: names on disk say what they are for, both ways, and nothing else is taken for one of
// ours.
#include "engine/log/file_names.h"

#include <gtest/gtest.h>

#include <limits>

namespace weir::log {
namespace {

model::PartitionKey key(uint32_t serial, int32_t index) {
  return {model::TopicSerial(serial), model::PartitionIndex(index)};
}

TEST(FileNames, partition_directories_go_both_ways) {
  EXPECT_EQ(partition_directory("/d", "clicks", key(7, 3)), "/d/topics/clicks-3.7");
  for (const std::string topic : {"a", "a-1", "a.b-c.9", "x-2.5", "__consumer_offsets"}) {
    const std::string path = partition_directory("/d", topic, key(4'000'000'000u, 12));
    const auto parsed = parse_partition_directory(path.substr(path.rfind('/') + 1));
    ASSERT_TRUE(parsed) << path;
    EXPECT_EQ(*parsed, key(4'000'000'000u, 12));
  }
}

TEST(FileNames, the_longest_topic_name_makes_a_legal_file_name) {
  const std::string topic(249, 'x');
  const std::string path = partition_directory(
      "/d", topic, key(std::numeric_limits<uint32_t>::max(), std::numeric_limits<int32_t>::max()));
  const std::string name = path.substr(path.rfind('/') + 1);
  EXPECT_LE(name.size(), 255u);
  EXPECT_TRUE(parse_partition_directory(name));
}

TEST(FileNames, other_directories_are_not_ours) {
  for (const std::string name : {"", ".", "..", "clicks", "clicks-1", "clicks.1", "-1.2", "a-.2",
                                 "a-1.", "a-x.2", "a-1.x", "a-1.2x", "a-1.-2",
                                 "a-99999999999.1", "a-1.99999999999", "a-1.2.deleted"}) {
    EXPECT_FALSE(parse_partition_directory(name)) << name;
  }
}

TEST(FileNames, deleted_directories_are_recognised) {
  const std::string path = deleted_directory("/d", key(7, 3));
  const std::string name = path.substr(path.rfind('/') + 1);
  EXPECT_TRUE(is_deleted_directory(name));
  EXPECT_FALSE(parse_partition_directory(name));
  EXPECT_FALSE(is_deleted_directory("clicks-3.7"));
}

TEST(FileNames, segment_files_go_both_ways_and_sort_by_offset) {
  EXPECT_EQ(segment_file("/d", model::Offset(42), kLogSuffix), "/d/00000000000000000042.log");
  for (const int64_t offset : {int64_t{0}, int64_t{1}, int64_t{1} << 40,
                               std::numeric_limits<int64_t>::max()}) {
    for (const auto suffix : {kLogSuffix, kLedgerSuffix}) {
      const std::string path = segment_file("/d", model::Offset(offset), suffix);
      const auto parsed = parse_segment_file(path.substr(3), suffix);
      ASSERT_TRUE(parsed) << path;
      EXPECT_EQ(parsed->value(), offset);
    }
  }
  EXPECT_LT(segment_file("/d", model::Offset(9), kLogSuffix),
            segment_file("/d", model::Offset(10), kLogSuffix));
}

TEST(FileNames, other_files_are_not_segments) {
  for (const std::string name :
       {"", "42.log", "00000000000000000042.ledger", "00000000000000000042.log.new",
        "0000000000000000004x.log", "-0000000000000000042.log", "99999999999999999999.log",
        "producers.snapshot", " 0000000000000000042.log"}) {
    EXPECT_FALSE(parse_segment_file(name, kLogSuffix)) << name;
  }
}

}  // namespace
}  // namespace weir::log
