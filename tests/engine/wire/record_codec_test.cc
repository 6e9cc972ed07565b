// Coordinator records against bytes written by hand from the schema, in each value version, and
// records of types and versions we do not know.
#include "engine/wire/records/record_codec.h"

#include <gtest/gtest.h>

#include "engine/wire/records/consumer_group.h"
#include "engine/wire/records/group_metadata.h"
#include "engine/wire/records/offset_commit.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using testing::from_hex;

template <class M>
std::string record_hex(const M& m, int16_t version) {
  base::Arena arena(testing::kArenaSizeMax);
  ChainWriter out(arena);
  encode_record(m, version, out);
  return testing::to_hex(testing::flatten(out.pieces()));
}

TEST(RecordCodec, OffsetCommitKeyHasTwoTypes) {
  base::Arena arena(testing::kArenaSizeMax);
  const OffsetCommitKey key{.group = "g", .topic = "t", .partition = 3};
  EXPECT_EQ(record_hex(key, 1), "0001" "000167" "000174" "00000003");
  EXPECT_EQ(record_hex(key, 0), "0000" "000167" "000174" "00000003");
  for (const char* const hex : {"0000000167000174" "00000003", "0001000167000174" "00000003"}) {
    OffsetCommitKey out;
    const auto bytes = from_hex(hex);
    ASSERT_TRUE(decode_record(out, bytes, arena));
    EXPECT_EQ(out.group, "g");
    EXPECT_EQ(out.partition, 3);
  }
}

TEST(RecordCodec, OffsetCommitValueInEveryVersion) {
  OffsetCommitValue value{.offset = 5, .leader_epoch = 2, .metadata = "m", .commit_timestamp = 9};
  value.topic_id.bytes[0] = std::byte{0xab};
  const std::string offset = "0000000000000005";
  const std::string timestamp = "0000000000000009";
  EXPECT_EQ(record_hex(value, 0), "0000" + offset + "00016d" + timestamp);
  EXPECT_EQ(record_hex(value, 1), "0001" + offset + "00016d" + timestamp + "ffffffffffffffff");
  EXPECT_EQ(record_hex(value, 2), "0002" + offset + "00016d" + timestamp);
  EXPECT_EQ(record_hex(value, 3), "0003" + offset + "00000002" + "00016d" + timestamp);
  EXPECT_EQ(record_hex(value, 4), "0004" + offset + "00000002" + "026d" + timestamp + "01" "0010" +
                                      "ab" + std::string(30, '0'));
  base::Arena arena(testing::kArenaSizeMax);
  const auto bytes = from_hex(record_hex(value, 4));
  OffsetCommitValue out;
  ASSERT_TRUE(decode_record(out, bytes, arena));
  EXPECT_EQ(out.topic_id, value.topic_id);
  EXPECT_EQ(out.leader_epoch, 2);
}

// One key of each type, and values with and without their tagged fields.
TEST(RecordCodec, ConsumerGroup) {
  EXPECT_EQ(record_hex(ConsumerGroupMetadataKey{.group_id = "g"}, 3), "0003" "000167");
  EXPECT_EQ(record_hex(ConsumerGroupMemberMetadataKey{.group_id = "g", .member_id = "m"}, 5),
            "0005" "000167" "00016d");
  EXPECT_EQ(record_hex(ConsumerGroupTargetAssignmentMetadataKey{.group_id = "g"}, 6),
            "0006" "000167");
  EXPECT_EQ(
      record_hex(ConsumerGroupTargetAssignmentMemberKey{.group_id = "g", .member_id = "m"}, 7),
      "0007" "000167" "00016d");
  EXPECT_EQ(record_hex(ConsumerGroupPartitionMetadataKey{.group_id = "g"}, 4), "0004" "000167");
  EXPECT_EQ(
      record_hex(ConsumerGroupCurrentMemberAssignmentKey{.group_id = "g", .member_id = "m"}, 8),
      "0008" "000167" "00016d");
  const ConsumerGroupRegularExpressionKey regex{.group_id = "g", .regular_expression = "a*"};
  EXPECT_EQ(record_hex(regex, 16), "0010" "000167" "0002612a");
  EXPECT_EQ(record_hex(ConsumerGroupMetadataValue{.epoch = 7}, 0), "0000" "00000007" "00");
  EXPECT_EQ(record_hex(ConsumerGroupMetadataValue{.epoch = 7, .metadata_hash = 1}, 0),
            "0000" "00000007" "01" "0008" "0000000000000001");
  EXPECT_EQ(record_hex(ConsumerGroupMemberMetadataValue{.instance_id = std::nullopt,
                                                        .rack_id = std::nullopt,
                                                        .subscribed_topic_regex = std::nullopt,
                                                        .server_assignor = std::nullopt},
                       0),
            "0000" "00" "00" "01" "01" "01" "00" "ffffffff" "00" "00");
}

TEST(RecordCodec, GroupMetadata) {
  EXPECT_EQ(record_hex(GroupMetadataKey{.group = "g"}, 2), "0002" "000167");
  base::Arena arena(testing::kArenaSizeMax);
  GroupMetadataValue value{.protocol_type = "consumer",
                           .generation = 7,
                           .protocol = std::nullopt,
                           .leader = "l",
                           .current_state_timestamp = 1};
  value.members = make_array<GroupMetadataValue::Member>(arena, 1);
  value.members[0].member_id = "m";
  value.members[0].session_timeout = 10;
  EXPECT_EQ(record_hex(value, 3),
            "0003" "0008636f6e73756d6572" "00000007" "ffff" "00016c" "0000000000000001" "00000001"
            "00016d" "ffff" "0000" "0000" "ffffffff" "0000000a" "00000000" "00000000");
  const auto bytes = from_hex(record_hex(value, 4));
  GroupMetadataValue out;
  ASSERT_TRUE(decode_record(out, bytes, arena));
  EXPECT_EQ(out.members[0].member_id, "m");
  EXPECT_FALSE(out.protocol.has_value());
}

TEST(RecordCodec, UnknownTypesAndVersionsAreTold) {
  base::Arena arena(testing::kArenaSizeMax);
  const auto reason = [&]<class M>(M out, std::string_view hex) {
    const auto status = decode_record(out, from_hex(hex), arena);
    return status ? DecodeError::Reason::none : status.error().reason;
  };
  using enum DecodeError::Reason;
  EXPECT_EQ(reason(OffsetCommitKey{}, "0002000167"), unknown_record_type);
  EXPECT_EQ(reason(GroupMetadataKey{}, "0001000167"), unknown_record_type);
  EXPECT_EQ(reason(OffsetCommitValue{}, "0005"), unknown_version);
  EXPECT_EQ(reason(OffsetCommitValue{}, "ffff"), unknown_version);
  EXPECT_EQ(reason(OffsetCommitValue{}, "00"), truncated);
  EXPECT_EQ(reason(OffsetCommitValue{}, ""), truncated);
  EXPECT_EQ(reason(OffsetCommitValue{}, "0000"), truncated);
  EXPECT_EQ(record_prefix(from_hex("0011")).value(), 17);
}

}  // namespace
}  // namespace weir::wire
