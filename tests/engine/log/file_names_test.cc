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

SegmentName cleaned(int64_t base, int64_t next, int64_t clean, uint64_t pass) {
  return SegmentName(model::Offset(base), model::Offset(next), model::Offset(clean), pass);
}

TEST(FileNames, cleaned_segments_carry_their_range) {
  const SegmentName name = cleaned(7, 42, 40, 3);
  const std::string path = segment_file("/d", name, kLedgerSuffix);
  EXPECT_EQ(path,
            "/d/00000000000000000007.00000000000000000042.00000000000000000040."
            "00000000000000000003.ledger");
  EXPECT_EQ(parse_segment_name(path.substr(3), kLedgerSuffix), name);
  EXPECT_FALSE(parse_segment_file(path.substr(3), kLedgerSuffix)) << "no plain segment";
  const SegmentName plain(model::Offset(7));
  EXPECT_EQ(segment_file("/d", plain, kLogSuffix), "/d/00000000000000000007.log");
  EXPECT_EQ(parse_segment_name("00000000000000000007.log", kLogSuffix), plain);
  const int64_t last = std::numeric_limits<int64_t>::max();
  const SegmentName largest = cleaned(last - 1, last, last, static_cast<uint64_t>(last));
  EXPECT_EQ(parse_segment_name(segment_file("", largest, kLogSuffix).substr(1), kLogSuffix),
            largest);
}

TEST(FileNames, ranges_that_make_no_sense_are_no_segments) {
  const auto parses = [](const SegmentName& name) {
    const std::string path = segment_file("", name, kLogSuffix);
    return parse_segment_name(path.substr(1), kLogSuffix).has_value();
  };
  EXPECT_TRUE(parses(cleaned(7, 8, 0, 1)));
  EXPECT_FALSE(parses(cleaned(7, 7, 0, 1))) << "empty range";
  EXPECT_TRUE(parses(cleaned(7, 8, 8, 1)));
  EXPECT_FALSE(parses(cleaned(7, 8, 9, 1))) << "clean beyond its own range";
  EXPECT_FALSE(parse_segment_name("00000000000000000007.00000000000000000008."
                                  "00000000000000000000.00000000000000000000.log",
                                  kLogSuffix))
      << "pass 0";
  EXPECT_FALSE(parse_segment_name("00000000000000000007-00000000000000000008."
                                  "00000000000000000000.00000000000000000001.log",
                                  kLogSuffix));
  EXPECT_FALSE(parse_segment_name("00000000000000000007.00000000000000000008.log", kLogSuffix));
}

TEST(FileNames, a_later_pass_supersedes_what_begins_in_its_range) {
  const SegmentName first = cleaned(0, 100, 100, 1);
  const SegmentName second = cleaned(0, 200, 180, 2);
  const auto plain = [](int64_t base) { return SegmentName(model::Offset(base)); };
  std::vector<SegmentName> names{plain(200), plain(100), second, plain(50), first, plain(0)};
  const auto gone = take_superseded(names);
  EXPECT_EQ(names, (std::vector{second, plain(200)}));
  EXPECT_EQ(gone, (std::vector{plain(0), first, plain(50), plain(100)}));
  EXPECT_TRUE(take_superseded(names).empty()) << "again changes nothing";
}

TEST(FileNames, journals_go_both_ways) {
  EXPECT_EQ(journal_file("/d", 3, 17), journal_directory("/d") + "/core-3.17.journal");
  const auto parsed = parse_journal_file("core-12.18446744073709551615.journal");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->core, 12u);
  EXPECT_EQ(parsed->generation, std::numeric_limits<uint64_t>::max());
  for (const char* other :
       {"", ".journal", "core-1.journal", "core-1..journal", "core-.1.journal", "core-x.1.journal",
        "core-1.x.journal", "core-1.1.journal.bak", "core-1.1", "my-core-1.1.journal",
        "core--1.1.journal", "core-1.-1.journal", "core-1.1.1.journal", "core-1.+1.journal",
        "core-1.18446744073709551616.journal", "core-4294967296.1.journal"}) {
    EXPECT_FALSE(parse_journal_file(other)) << other;
  }
}

TEST(FileNames, files_of_a_pool_are_known) {
  EXPECT_EQ(pool_file(pool_directory("/d"), 1, 0x2f, 7), "/d/pool/core-1.000000000000002f.7");
  for (const char* own : {"core-12.0123456789abcdef.7", "core-0.ffffffffffffffff.0",
                          "core-255.0000000000000000.18446744073709551615"}) {
    EXPECT_TRUE(is_pool_file(own)) << own;
  }
  for (const char* other : {"", "photo.jpg", "core-1", "core-1.7", "core-1.0123456789abcde.7",
                            "core-1.0123456789abcdef0.7", "core-1.0123456789abcdeg.7", "core-.x.7",
                            "core-1.0123456789ABCDEF.7", "core-x.0123456789abcdef.7",
                            "core-1.0123456789abcdef.", "core-1.0123456789abcdef",
                            "core-1.0123456789abcdef.7.bak", "my-core-1.0123456789abcdef.7"}) {
    EXPECT_FALSE(is_pool_file(other)) << other;
  }
}

TEST(FileNames, reserves_are_known) {
  EXPECT_EQ(reserve_file(12), "reserve.core-12");
  EXPECT_TRUE(is_reserve_file("reserve.core-12"));
  for (const char* other : {"", "reserve.core-", "reserve.core-1.bak", "reserve.core-x", "core-1",
                            "my-reserve.core-1"}) {
    EXPECT_FALSE(is_reserve_file(other)) << other;
  }
}

TEST(FileNames, of_a_pass_half_done_both_kinds_live_on) {
  const auto plain = [](int64_t base) { return SegmentName(model::Offset(base)); };
  std::vector<SegmentName> names{plain(0), plain(50), plain(100), plain(150), plain(200),
                                 cleaned(0, 100, 0, 4), cleaned(150, 200, 200, 5)};
  const auto gone = take_superseded(names);
  EXPECT_EQ(names, (std::vector{cleaned(0, 100, 0, 4), plain(100), cleaned(150, 200, 200, 5),
                                plain(200)}));
  EXPECT_EQ(gone, (std::vector{plain(0), plain(50), plain(150)}));
}

}  // namespace
}  // namespace weir::log
