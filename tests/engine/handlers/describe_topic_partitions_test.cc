// DescribeTopicPartitions page by page, against what Kafka 4.3.1 answers (accept/oracle): the limit
// on both sides, cursors on and beside what they may name, topics that are not there.
#include "engine/wire/messages/describe_topic_partitions.h"

#include <gtest/gtest.h>

#include "tests/engine/handlers/test_broker.h"

namespace weir::handlers {
namespace {

using wire::DescribeTopicPartitionsRequest;
using wire::DescribeTopicPartitionsResponse;
using Cursor = wire::TopicPartitionsCursor;

class TopicPartitionsTest : public testing::Test {
 protected:
  void SetUp() override {
    broker.add_topic("a", 3);
    broker.add_topic("b", 2);
    broker.add_topic("__consumer_offsets", 1);
    broker.add_topic("wide", 2001);
    broker.start();
    client.emplace(broker);
  }

  DescribeTopicPartitionsResponse ask(std::vector<std::string_view> names, int32_t limit = 2000,
                                      std::optional<Cursor> cursor = {}) {
    std::vector<DescribeTopicPartitionsRequest::Topic> topics;
    for (const std::string_view name : names) topics.push_back({name});
    DescribeTopicPartitionsRequest request;
    request.topics = {topics.data(), topics.size()};
    request.response_partition_limit = limit;
    request.cursor = cursor;
    return client->call<DescribeTopicPartitionsResponse>(request, 0);
  }
  // "a:0,1,2 b:0 > b:1": the partitions of each topic, or its error; then the next cursor.
  std::string shown(std::vector<std::string_view> names, int32_t limit = 2000,
                    std::optional<Cursor> cursor = {}) {
    const auto response = ask(std::move(names), limit, cursor);
    std::string out;
    for (const auto& topic : response.topics) {
      if (!out.empty()) out += ' ';
      out += std::string(*topic.name) + ":";
      if (topic.error_code != 0) out += "!" + std::to_string(topic.error_code);
      for (size_t i = 0; i < topic.partitions.size(); ++i) {
        out += (i > 0 ? "," : "") + std::to_string(topic.partitions[i].partition_index);
      }
    }
    if (response.next_cursor) {
      out += " > " + std::string(response.next_cursor->topic_name) + ":" +
             std::to_string(response.next_cursor->partition_index);
    }
    return out;
  }

  TestBroker broker;
  std::optional<TestClient> client;
};

TEST_F(TopicPartitionsTest, WhatIsSaidOfATopic) {
  const auto response = ask({"a", "__consumer_offsets"});
  ASSERT_EQ(response.topics.size(), 2u);
  EXPECT_TRUE(response.topics[0].is_internal);
  const auto& topic = response.topics[1];
  EXPECT_FALSE(topic.is_internal);
  EXPECT_EQ(topic.topic_id, broker.cores[0]->catalog.find("a")->id);
  EXPECT_EQ(topic.topic_authorized_operations, 3576);
  const auto& partition = topic.partitions[2];
  EXPECT_EQ(partition.leader_id, 1);
  EXPECT_EQ(partition.leader_epoch, 4);
  ASSERT_EQ(partition.replica_nodes.size(), 1u);
  EXPECT_EQ(partition.replica_nodes[0], 1);
  EXPECT_EQ(partition.isr_nodes[0], 1);
  EXPECT_FALSE(partition.eligible_leader_replicas.is_null());
  EXPECT_TRUE(partition.offline_replicas.empty());
}

TEST_F(TopicPartitionsTest, SortedOnceAndWithErrors) {
  EXPECT_EQ(shown({"b", "a"}), "a:0,1,2 b:0,1");
  EXPECT_EQ(shown({"a", "a"}), "a:0,1,2");
  EXPECT_EQ(shown({"none", "a"}), "a:0,1,2 none:!3");
  EXPECT_EQ(shown({"a/b"}), "a/b:!17");
  EXPECT_EQ(ask({"none"}).topics[0].topic_authorized_operations, 3576);
  EXPECT_TRUE(ask({"none"}).topics[0].topic_id.is_zero());
}

TEST_F(TopicPartitionsTest, Pages) {
  EXPECT_EQ(shown({"b", "a"}, 2), "a:0,1 > a:2");
  EXPECT_EQ(shown({"b", "a"}, 3), "a:0,1,2 > b:0");
  EXPECT_EQ(shown({"b", "a"}, 4), "a:0,1,2 b:0 > b:1");
  EXPECT_EQ(shown({"b", "a"}, 5), "a:0,1,2 b:0,1");
  EXPECT_EQ(shown({"none", "a"}, 3), "a:0,1,2 > none:0");
  for (const int32_t limit : {0, -1, 1, INT32_MIN}) {
    EXPECT_EQ(shown({"b", "a"}, limit), "a:0 > a:1");
  }
}

TEST_F(TopicPartitionsTest, NoPageIsLargerThanTheLimit) {
  for (const int32_t limit : {2000, 2001, INT32_MAX}) {
    const auto response = ask({"wide"}, limit);
    EXPECT_EQ(response.topics[0].partitions.size(), 2000u);
    ASSERT_TRUE(response.next_cursor);
    EXPECT_EQ(response.next_cursor->partition_index, 2000);
  }
  EXPECT_EQ(shown({"wide"}, 2000, Cursor{"wide", 2000}), "wide:2000");
}

TEST_F(TopicPartitionsTest, Cursors) {
  EXPECT_EQ(shown({"b", "a"}, 2000, Cursor{"a", 2}), "a:2 b:0,1");
  EXPECT_EQ(shown({"b", "a"}, 2, Cursor{"a", 2}), "a:2 b:0 > b:1");
  EXPECT_EQ(shown({"b", "a"}, 2000, Cursor{"b", 0}), "b:0,1");
  EXPECT_EQ(shown({"b", "a"}, 2000, Cursor{"a", 3}), "a: b:0,1");
  EXPECT_EQ(shown({"b", "a"}, 2000, Cursor{"a", INT32_MAX}), "a: b:0,1");
  for (const Cursor& bad : {Cursor{"0", 0}, Cursor{"z", 0}, Cursor{"a", -1}}) {
    EXPECT_EQ(shown({"b", "a", "b"}, 2000, bad), "b:!42 a:!42 b:!42");
  }
  EXPECT_EQ(ask({"b"}, 2000, Cursor{"a", -1}).topics[0].topic_authorized_operations, INT32_MIN);
}

// Without names the page goes on where it stopped even if that topic was deleted.
TEST_F(TopicPartitionsTest, AllTopics) {
  EXPECT_EQ(shown({}, 5), "__consumer_offsets:0 a:0,1,2 b:0 > b:1");
  EXPECT_EQ(shown({}, 5, Cursor{"b", 1}), "b:1 t:0,1,2,3 > wide:0");
  EXPECT_EQ(shown({}, 2, Cursor{"c", 7}), "t:0,1 > t:2");
  EXPECT_EQ(shown({}, 2, Cursor{"z", 0}), "");
  EXPECT_EQ(shown({}, 2, Cursor{"a", -1}), "");
}

}  // namespace
}  // namespace weir::handlers
