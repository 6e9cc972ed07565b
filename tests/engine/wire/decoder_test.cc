// Hand-made bodies, one fault each: lengths and counts that lie, nulls where none may be, tagged
// fields in every bad shape, bytes that are not text (RELIABILITY F38-F40). Each is an error value
// that names its reason and field; none allocates more than a full message would.
#include "engine/wire/decoder.h"

#include <gtest/gtest.h>

#include "engine/wire/codec.h"
#include "engine/wire/messages/api_versions.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/describe_topic_partitions.h"
#include "engine/wire/messages/fetch.h"
#include "engine/wire/messages/heartbeat.h"
#include "engine/wire/messages/metadata.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using Reason = DecodeError::Reason;
using testing::Buffer;
using testing::from_hex;

template <class M>
void expect_error(std::string_view hex, int16_t version, Reason reason, std::string_view field) {
  base::Arena arena(testing::kArenaSizeMax);
  M out;
  const Buffer body = from_hex(hex);
  const auto status = decode(out, body, version, arena);
  ASSERT_FALSE(status) << hex;
  EXPECT_EQ(name(status.error().reason), name(reason)) << hex;
  EXPECT_EQ(std::string_view(status.error().field), field) << hex;
  EXPECT_LE(status.error().position, body.size());
  EXPECT_LE(arena.size_used(), kArenaBytesPerBodyByteMax * body.size()) << hex;
}

template <class M>
M decoded(std::string_view hex, int16_t version, const Buffer& body, base::Arena& arena) {
  M out;
  const auto status = decode(out, body, version, arena);
  EXPECT_TRUE(status) << hex << " " << to_string(status.error());
  return out;
}

TEST(Decoder, CountsThatLie) {
  // MetadataRequest v1: topics int32 count, nullable; v0: not nullable.
  expect_error<MetadataRequest>("ffffffff", 0, Reason::unexpected_null, "Topics");
  expect_error<MetadataRequest>("fffffffe", 1, Reason::negative_length, "Topics");
  expect_error<MetadataRequest>("80000000", 1, Reason::negative_length, "Topics");
  expect_error<MetadataRequest>("7fffffff", 1, Reason::length_exceeds_body, "Topics");
  expect_error<MetadataRequest>("00000002"
                                "000161",
                                1, Reason::length_exceeds_body, "Topics");
  // v9: compact count; 0 is null, n+1 is n.
  expect_error<MetadataRequest>("ffffffff0f", 9, Reason::length_exceeds_limit, "Topics");
  expect_error<MetadataRequest>("8080808008", 9, Reason::length_exceeds_body, "Topics");
  expect_error<MetadataRequest>("8100", 9, Reason::bad_varint, "Topics");
  expect_error<MetadataRequest>("ffffffff1f", 9, Reason::bad_varint, "Topics");
  expect_error<MetadataRequest>("", 9, Reason::truncated, "Topics");
  expect_error<MetadataRequest>("80", 9, Reason::bad_varint, "Topics");
}

TEST(Decoder, StringsThatLie) {
  expect_error<MetadataRequest>("00000001ffff", 1, Reason::unexpected_null, "Name");
  expect_error<MetadataRequest>("00000001fffe", 1, Reason::negative_length, "Name");
  expect_error<MetadataRequest>("000000010003"
                                "6161",
                                1, Reason::length_exceeds_body, "Name");
  expect_error<MetadataRequest>("0200", 9, Reason::length_exceeds_body, "Topics");
  expect_error<MetadataRequest>("020000000000", 9, Reason::unexpected_null, "Name");
}

TEST(Decoder, BytesThatLie) {
  // FetchResponse v4: throttle, 1 topic "a", 1 partition: index, error, watermarks, no aborted.
  const std::string start =
      "00000000"
      "00000001000161"
      "00000001"
      "00000000000000000000000000010000000000000001"
      "00000000";
  expect_error<FetchResponse>(start + "00000005aabb", 4, Reason::length_exceeds_body, "Records");
  expect_error<FetchResponse>(start + "fffffffe", 4, Reason::negative_length, "Records");
  expect_error<FetchResponse>(start + "7fffffff", 4, Reason::length_exceeds_body, "Records");
  base::Arena arena(testing::kArenaSizeMax);
  const Buffer null_records = from_hex(start + "ffffffff");
  const auto response = decoded<FetchResponse>(start, 4, null_records, arena);
  EXPECT_TRUE(response.responses[0].partitions[0].records.null);
}

TEST(Decoder, CompactStringsKeepKafkasLimit) {
  for (const size_t size : {kStringSizeMax, kStringSizeMax + 1}) {
    base::Arena arena(testing::kArenaSizeMax);
    Buffer body;
    std::byte varint[base::kVarint32SizeMax];
    const auto length = base::store_unsigned_varint32(varint, static_cast<uint32_t>(size + 1));
    body.insert(body.end(), varint, varint + length);
    body.resize(body.size() + size, std::byte{'a'});
    for (const int byte : {2, 98, 0}) body.push_back(static_cast<std::byte>(byte));
    ApiVersionsRequest out;
    EXPECT_EQ(decode(out, body, 3, arena).has_value(), size == kStringSizeMax);
  }
}

TEST(Decoder, TextMustBeUtf8) {
  for (const std::string bad : {"000180", "0001ff", "0002c080", "0003eda080", "0004f4908080"}) {
    expect_error<HeartbeatRequest>(bad + "000000000000", 0, Reason::bad_utf8, "GroupId");
  }
  base::Arena arena(testing::kArenaSizeMax);
  const Buffer good = from_hex("0003e28281000000000000");
  EXPECT_EQ(decoded<HeartbeatRequest>("", 0, good, arena).group_id, "\xe2\x82\x81");
}

TEST(Decoder, UnknownTaggedFieldsAreSkippedAtEveryLevel) {
  base::Arena arena(testing::kArenaSizeMax);
  // MetadataRequest v9: one topic "a" with unknown tags 5 (3 bytes) and 300 (empty), then flags,
  // then an unknown tag 0 of one byte.
  const Buffer body = from_hex(
      "02"
      "0261"
      "02" "0503aabbcc" "ac0200"
      "010000"
      "01" "0001ff");
  const auto request = decoded<MetadataRequest>("", 9, body, arena);
  ASSERT_EQ(request.topics.size(), 1u);
  EXPECT_EQ(request.topics[0].name, "a");
  EXPECT_TRUE(request.allow_auto_topic_creation);
}

TEST(Decoder, BadTaggedFields) {
  const std::string start = "01010000";  // MetadataRequest v9: no topics, three flags
  expect_error<MetadataRequest>(start + "02" "050100" "050100", 9, Reason::tags_not_increasing,
                                "tagged fields");
  expect_error<MetadataRequest>(start + "02" "050100" "040100", 9, Reason::tags_not_increasing,
                                "tagged fields");
  expect_error<MetadataRequest>(start + "01" "0505aabb", 9, Reason::length_exceeds_body,
                                "tagged fields");
  expect_error<MetadataRequest>(start + "ffffffff0f", 9, Reason::length_exceeds_body,
                                "IncludeTopicAuthorizedOperations");
  expect_error<MetadataRequest>(start + "01" "85800000", 9, Reason::bad_varint, "tagged fields");
  expect_error<MetadataRequest>(start, 9, Reason::truncated, "IncludeTopicAuthorizedOperations");
  std::string many = start + "8110";  // 2049 fields
  for (int i = 0; i < 2049; ++i) many += "0000";
  expect_error<MetadataRequest>(many, 9, Reason::length_exceeds_limit,
                                "IncludeTopicAuthorizedOperations");
}

TEST(Decoder, KnownTaggedFieldsUseExactlyTheirSize) {
  // ApiVersionsResponse v3: no error, no keys, no throttle, then tagged fields.
  const std::string start = "0000" "01" "00000000";
  base::Arena arena(testing::kArenaSizeMax);
  const Buffer good = from_hex(start + "03" "0108000000000000002a" "030101" "0900");
  const auto response = decoded<ApiVersionsResponse>("", 3, good, arena);
  EXPECT_EQ(response.finalized_features_epoch, 42);
  EXPECT_TRUE(response.zk_migration_ready);
  expect_error<ApiVersionsResponse>(start + "01" "0109000000000000002aff", 3,
                                    Reason::trailing_bytes, "FinalizedFeaturesEpoch");
  expect_error<ApiVersionsResponse>(start + "01" "0107000000000000002a", 3, Reason::truncated,
                                    "FinalizedFeaturesEpoch");
  expect_error<ApiVersionsResponse>(start + "01" "00020361", 3, Reason::length_exceeds_body,
                                    "SupportedFeatures");
}

TEST(Decoder, KnownTagsOfALaterVersionAreUnknown) {
  base::Arena arena(testing::kArenaSizeMax);
  FetchRequest request{.cluster_id = "c"};
  request.replica_state = {.replica_id = 3, .replica_epoch = 4};
  const Buffer v15 = testing::encoded(request, 15);
  EXPECT_EQ(decoded<FetchRequest>("", 15, v15, arena).replica_state.replica_id, 3);
  // In version 14 the replica id is a plain field and tag 1 means nothing.
  Buffer v14 = testing::encoded(FetchRequest{}, 14);
  v14.back() = std::byte{1};
  const Buffer tag = from_hex("0101ee");
  v14.insert(v14.end(), tag.begin(), tag.end());
  EXPECT_EQ(decoded<FetchRequest>("", 14, v14, arena).replica_state.replica_id, -1);
}

TEST(Decoder, BoolsOtherThanOneAreTrue) {
  base::Arena arena(testing::kArenaSizeMax);
  const Buffer body = from_hex("00000000" "00000000" "07");
  EXPECT_TRUE(decoded<CreateTopicsRequest>("", 1, body, arena).validate_only);
}

TEST(Decoder, StructsThatMayBeNullHaveAByteInFront) {
  base::Arena arena(testing::kArenaSizeMax);
  using Message = DescribeTopicPartitionsRequest;
  // No topics, limit 1, then the cursor.
  const Buffer null = from_hex("0100000001ff00");
  EXPECT_FALSE(decoded<Message>("null", 0, null, arena).cursor.has_value());
  const Buffer present = from_hex("0100000001010261000000070000");
  const auto request = decoded<Message>("present", 0, present, arena);
  ASSERT_TRUE(request.cursor.has_value());
  EXPECT_EQ(request.cursor->topic_name, "a");
  EXPECT_EQ(request.cursor->partition_index, 7);
  expect_error<Message>("0100000001", 0, Reason::truncated, "Cursor");
  expect_error<Message>("010000000101", 0, Reason::truncated, "TopicName");
}

TEST(Decoder, HugeCountsWithRealBytesStopAtTheLimit) {
  // Two million empty names would fit into the bytes; the limit on counts holds first.
  Buffer body = from_hex("001e8480");
  body.resize(4 + 2 * 2'000'000);
  base::Arena arena(testing::kArenaSizeMax);
  MetadataRequest out;
  const auto status = decode(out, body, 1, arena);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().reason, Reason::length_exceeds_limit);
  EXPECT_EQ(arena.size_used(), 0u);
}

TEST(Decoder, ErrorsPrintOnOneLine) {
  EXPECT_EQ(to_string(DecodeError{Reason::bad_utf8, 17, "Name"}),
            "reason=bad_utf8 field=Name position=17");
  EXPECT_EQ(to_string(DecodeError{}), "reason=none field=- position=0");
}

}  // namespace
}  // namespace weir::wire
