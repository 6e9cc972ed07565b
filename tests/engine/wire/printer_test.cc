// A message prints as one line that shows the fields of its version and never grows without bound.
#include <gtest/gtest.h>

#include "engine/wire/all_messages.h"
#include "engine/wire/codec.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

template <class M>
std::string printed(const M& m, int16_t version) {
  std::string line;
  print(m, version, line);
  return line;
}

TEST(Printer, ShowsTheFieldsOfTheVersion) {
  base::Arena arena(testing::kArenaSizeMax);
  ProduceRequest request{.acks = -1, .timeout_ms = 30};
  request.topic_data = make_array<ProduceRequest::Topic>(arena, 1);
  request.topic_data[0].name = "or\"ders\n";
  request.topic_data[0].partition_data = make_array<ProduceRequest::Partition>(arena, 2);
  const std::byte batch[69]{};
  request.topic_data[0].partition_data[1] = {.index = 1, .records = Records(Bytes(batch))};
  EXPECT_EQ(printed(request, 7),
            "ProduceRequestv7{TransactionalId=null, Acks=-1, TimeoutMs=30, TopicData=[{Name="
            "\"or\\\"ders\\x0a\", PartitionData=[{Index=0, Records=null}, {Index=1, "
            "Records=69B}]}]}");
  EXPECT_NE(printed(request, 13).find("TopicId=AAAAAAAAAAAAAAAAAAAAAA"), std::string::npos);
}

TEST(Printer, LeavesOutTaggedFieldsWithTheirDefault) {
  FetchRequest request;
  EXPECT_EQ(printed(request, 15).find("ReplicaState"), std::string::npos);
  request.replica_state.replica_id = 3;
  EXPECT_NE(printed(request, 15).find("ReplicaState={ReplicaId=3, ReplicaEpoch=-1}"),
            std::string::npos);
  EXPECT_EQ(printed(request, 14).find("ReplicaState"), std::string::npos);
}

TEST(Printer, ShowsFractionsAndWhatMayBeNull) {
  AlterClientQuotasRequest::Op op{.key = "request_percentage", .value = 12.5};
  AlterClientQuotasRequest::Entry entry;
  entry.ops = {&op, 1};
  AlterClientQuotasRequest quotas;
  quotas.entries = {&entry, 1};
  EXPECT_NE(printed(quotas, 1).find("Value=12.5"), std::string::npos);
  DescribeTopicPartitionsRequest page;
  EXPECT_NE(printed(page, 0).find("Cursor=null"), std::string::npos);
  page.cursor = {.topic_name = "t", .partition_index = 3};
  EXPECT_NE(printed(page, 0).find("Cursor={TopicName=\"t\", PartitionIndex=3}"),
            std::string::npos);
}

TEST(Printer, ShortensLongArraysAndStrings) {
  base::Arena arena(testing::kArenaSizeMax);
  DeleteGroupsRequest request{.groups_names = make_array<std::string_view>(arena, 100'000)};
  const std::string line = printed(request, 0);
  EXPECT_LT(line.size(), 200u);
  EXPECT_NE(line.find(", +99984]"), std::string::npos);
  const std::string name(10'000, 'n');
  EXPECT_LT(printed(HeartbeatRequest{.group_id = name}, 0).size(), 300u);
}

struct OneLine {
  template <class M>
  void operator()(int16_t version) {
    base::Arena arena(testing::kArenaSizeMax);
    const std::string line = printed(testing::random_message<M>(3, version, arena), version);
    EXPECT_TRUE(line.starts_with(std::string(M::kInfo.name)));
    EXPECT_TRUE(line.ends_with("}"));
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
};

TEST(Printer, EveryMessagePrintsOnOneLine) {
  testing::for_each_version<AllRequests>(OneLine{});
  testing::for_each_version<AllResponses>(OneLine{});
  testing::for_each_version<AllRecords>(OneLine{});
}

}  // namespace
}  // namespace weir::wire
