// Proves that what goes to __consumer_offsets is what Kafka writes, to the byte, that records of
// all versions are understood, and that those of others are left alone. Expected bytes are written
// out by hand from the schemas.

#include "engine/group/records.h"

#include <gtest/gtest.h>

#include "engine/wire/records/offset_commit.h"
#include "engine/wire/records/record_codec.h"
#include "tests/engine/group/group_world.h"

namespace weir::group {

namespace {

std::string hex(std::string_view digits) {
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return out;
}

struct KeyValue {
  std::string key;
  std::optional<std::string> value;
  int32_t headers = 0;
};

std::vector<KeyValue> records_of(const FakeGroupLog& log) {
  std::vector<KeyValue> all;
  for (const auto& [partition, bytes] : log.batches) {
    const log::BatchView batch{std::span(bytes)};
    EXPECT_EQ(batch.crc(), batch.computed_crc());
    EXPECT_EQ(batch.size(), bytes.size());
    std::span<const std::byte> records = batch.records();
    log::Record record;
    while (!records.empty() && log::read_record(records, record)) {
      all.push_back({text_of(*record.key),
                     record.value ? std::optional(text_of(*record.value)) : std::nullopt,
                     record.header_count});
    }
  }
  return all;
}

// Restores a world from one record.
void replay(GroupWorld& world, const std::string& key, const std::optional<std::string>& value,
            const log::BatchOptions& options = {}) {
  log::BatchBuilder builder(options);
  builder.append(base::as_bytes(key),
                 value ? log::BatchBuilder::NullableBytes(base::as_bytes(*value)) : std::nullopt,
                 1'000);
  const auto batch = builder.finish();
  world.log.batches.emplace_back(model::PartitionIndex(0), std::vector(batch.begin(), batch.end()));
  world.crash();
}

const std::string kOffsetKey = hex("0001000167000174" "00000005");  // type 1, "g", "t", 5

}  // namespace

TEST(Records, OffsetCommitToTheByte) {
  GroupWorld world;
  world.core.clock.jump_wall_ms(0x1122334455 - world.core.clock.wall_ms());
  world.commit({.partitions = {5}, .offset = 258, .epoch = 7, .metadata = "md"});
  const auto records = records_of(world.log);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, kOffsetKey);
  // version 3 | offset | leader epoch | metadata | commit timestamp
  EXPECT_EQ(records[0].value, hex("0003" "0000000000000102" "00000007" "00026d64"
                                  "0000001122334455"));
  EXPECT_EQ(records[0].headers, 0);
}

TEST(Records, OffsetCommitWithExpiryIsVersion1) {
  GroupWorld world;
  world.core.clock.jump_wall_ms(0x1000 - world.core.clock.wall_ms());
  world.commit({.partitions = {5}, .offset = 1, .retention_ms = 0x234, .version = 3});
  // version 1 | offset | metadata | commit timestamp | expire timestamp
  EXPECT_EQ(records_of(world.log)[0].value,
            hex("0001" "0000000000000001" "0000" "0000000000001000" "0000000000001234"));
}

TEST(Records, TopicIdTravelsInAHeaderAndTheValueStaysVersion3) {
  GroupWorld world;
  base::Uuid topic_id;
  topic_id.bytes[3] = std::byte{9};
  world.commit({.topic_id = topic_id});
  const auto records = records_of(world.log);
  EXPECT_EQ(records[0].headers, 1);
  EXPECT_TRUE(records[0].value->starts_with(hex("0003")));
  world.crash();
  EXPECT_EQ(world.coordinator->committed_topics().begin()->second, topic_id);
}

TEST(Records, GroupMetadataToTheByte) {
  GroupWorld world;
  world.core.clock.jump_wall_ms(0x5000 - world.core.clock.wall_ms());
  auto join = world.join_new({.instance = "i", .session_ms = 6'000, .rebalance_ms = 7'000});
  world.sync({.member = join->member(), .assignments = {{join->member(), "xyz"}}, .instance = "i"});
  const auto records = records_of(world.log);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, hex("0002000167"));
  const std::string id = hex("0026") + join->member();  // "i-" and 36 characters
  ASSERT_EQ(join->member().size(), 0x26u);
  const std::string timestamp = hex("0000000000005000");
  EXPECT_EQ(records[0].value,
            hex("0003" "0008") + "consumer" + hex("00000001" "0005") + "range" + id + timestamp +
                hex("00000001") + id + hex("000169" "0006") + "client" + hex("000a") +
                "/127.0.0.1" + hex("00001b58" "00001770" "00000001") + "r" + hex("00000003") +
                "xyz");
}

TEST(Records, EmptyGroupAndTombstones) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  world.commit({.generation = 1, .member = member, .partitions = {5}});
  world.leave("g", {{member, {}}});
  auto records = records_of(world.log);
  std::string timestamp(8, '\0');
  base::store_be(reinterpret_cast<std::byte*>(timestamp.data()), world.core.clock.wall_ms());
  EXPECT_EQ(records.back().value, hex("0003" "0008") + "consumer" + hex("00000002" "ffff" "ffff") +
                                      timestamp + hex("00000000"));
  world.remove({"g"});
  records = records_of(world.log);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[3].key, kOffsetKey);
  EXPECT_FALSE(records[3].value.has_value());
  EXPECT_EQ(records[4].key, hex("0002000167"));
  EXPECT_FALSE(records[4].value.has_value());
}

TEST(Replay, AllVersionsOfOffsets) {
  const std::string offset = hex("0000000000000102");
  const std::string time = hex("0000018bcfe56800");
  const std::vector<std::pair<std::string, int32_t>> values = {
      {hex("0000") + offset + hex("00016d") + time, -1},
      {hex("0001") + offset + hex("00016d") + time + hex("ffffffffffffffff"), -1},
      {hex("0002") + offset + hex("00016d") + time, -1},
      {hex("0003") + offset + hex("00000004" "00016d") + time, 4},
      {hex("0004") + offset + hex("00000004" "026d") + time +
           hex("01" "0010" "00000000000000000000000000000001"),
       4},
  };
  for (const auto& [value, epoch] : values) {
    for (const std::string& key : {kOffsetKey, hex("0000000167000174" "00000005")}) {
      GroupWorld world;
      replay(world, key, value);
      auto fetch = world.fetch("g", "t", {5});
      EXPECT_EQ(fetch->at().committed_offset, 258);
      EXPECT_EQ(fetch->at().committed_leader_epoch, epoch);
      EXPECT_EQ(fetch->at().metadata, "m");
      EXPECT_EQ(world.state("g"), "Empty");
      replay(world, key, std::nullopt);
      EXPECT_EQ(world.fetch("g", "t", {5})->at().committed_offset, -1);
      EXPECT_EQ(world.state("g"), "Dead");
    }
  }
}

TEST(Replay, OldGroupRecordsHaveNoRebalanceTimeout) {
  GroupWorld world;
  // version 0: type, generation 3, protocol, leader "m", one member: id, client, host, session 9000
  // …
  replay(world, hex("0002000167"),
         hex("0000" "0001" "63" "00000003" "000172" "00016d" "00000001" "00016d" "000163" "00022f68"
             "00002328" "0000000173" "0000000161"));
  auto described = world.describe("g");
  EXPECT_EQ(described->response.group_state, "Stable");
  EXPECT_EQ(described->response.protocol_type, "c");
  EXPECT_EQ(text_of(described->response.members[0].member_assignment), "a");
  EXPECT_EQ(world.heartbeat("g", 3, "m"), ErrorCode::none);
  world.advance_ms(9'001);
  EXPECT_EQ(world.state("g"), "Empty");
}

TEST(Replay, WhatIsNotOursIsLeftAlone) {
  GroupWorld world;
  for (const std::string& key : {hex("0003000167"), hex("7fff"), hex("00"), std::string(),
                                 hex("0001000967"), hex("0002000567")}) {
    replay(world, key, hex("00030000"));
  }
  replay(world, kOffsetKey, hex("0009" "0000"));
  replay(world, kOffsetKey, hex("0003" "00"));
  // Transactional offsets count with their marker only.
  replay(world, kOffsetKey, hex("0003" "0000000000000102" "00000007" "0000" "0000001122334455"),
         {.transactional = true});
  EXPECT_EQ(world.coordinator->group_count(), 0u);
  // A torn end: what is whole counts.
  world.commit({.offset = 3});
  world.log.batches.back().second.resize(world.log.batches.back().second.size() + 30);
  world.crash();
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 3);
}

TEST(Replay, GroupOverItsSizeRebalances) {
  GroupWorld world;
  world.pair_stable();
  world.config.max_size = 1;
  world.crash();
  EXPECT_EQ(world.state("g"), "PreparingRebalance");
}

}  // namespace weir::group
