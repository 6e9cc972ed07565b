#include "tools/weir/cluster.h"

#include <algorithm>

#include "engine/wire/messages/fetch.h"
#include "engine/wire/messages/list_offsets.h"
#include "engine/wire/messages/metadata.h"
#include "tools/weir/batch_reader.h"

namespace weir::tools {
namespace {

constexpr int32_t kFetchSizeMax = 1 << 20;

// Later versions name topics by id only.
constexpr int16_t kFetchVersionMax = 12;

}  // namespace

std::vector<TopicInfo> describe_topics(WireClient& client, std::vector<std::string> names) {
  std::vector<wire::MetadataRequest::Topic> asked;
  for (const std::string& name : names) asked.push_back({.name = name});
  const wire::MetadataRequest request{
      .topics = names.empty() ? wire::Array<wire::MetadataRequest::Topic>::null() : array_of(asked),
      .allow_auto_topic_creation = false};
  const auto answer = client.call<wire::MetadataResponse>(request);
  check(answer->error_code, "Metadata");
  std::vector<TopicInfo> topics;
  for (const auto& topic : answer->topics) {
    TopicInfo info{.name = std::string(topic.name.value_or("")),
                   .id = topic.topic_id,
                   .internal = topic.is_internal,
                   .error_code = topic.error_code,
                   .partitions = {}};
    for (const auto& partition : topic.partitions) {
      info.partitions.push_back(partition.partition_index);
    }
    std::ranges::sort(info.partitions);
    topics.push_back(std::move(info));
  }
  std::ranges::sort(topics, {}, &TopicInfo::name);
  return topics;
}

OffsetByPartition list_offsets(WireClient& client, const std::vector<PartitionName>& partitions,
                               int64_t timestamp) {
  std::map<std::string, std::vector<wire::ListOffsetsRequest::Partition>> by_topic;
  for (const PartitionName& name : partitions) {
    by_topic[name.topic].push_back({.partition_index = name.partition, .timestamp = timestamp});
  }
  std::vector<wire::ListOffsetsRequest::Topic> topics;
  for (auto& [name, asked] : by_topic) topics.push_back({name, array_of(asked)});
  const wire::ListOffsetsRequest request{.replica_id = -1, .topics = array_of(topics)};
  const auto answer = client.call<wire::ListOffsetsResponse>(request);
  OffsetByPartition offsets;
  for (const auto& topic : answer->topics) {
    for (const auto& partition : topic.partitions) {
      const PartitionName name{std::string(topic.name), partition.partition_index};
      const auto code = static_cast<model::ErrorCode>(partition.error_code);
      if (code == model::ErrorCode::unknown_topic_or_partition) {
        offsets[name] = -1;
        continue;
      }
      check(partition.error_code, fmt::format("offsets of {}-{}", name.topic, name.partition));
      offsets[name] = partition.offset;
    }
  }
  return offsets;
}

std::optional<int64_t> timestamp_in(std::span<const std::byte> records, int64_t offset) {
  while (log::starts_with_batch(records)) {
    const log::BatchView batch(records);
    records = records.subspan(batch.size());
    if (batch.last_offset().value() < offset || batch.is_control()) continue;
    if (batch.is_append_time()) return batch.max_timestamp();
    std::optional<int64_t> found;
    const bool sound = for_each_record(batch, [&](const log::Record& record) {
      const int64_t record_offset = batch.base_offset().value() + record.offset_delta;
      if (record_offset >= offset) found = batch.base_timestamp() + record.timestamp_delta;
      return !found.has_value();
    });
    if (found || !sound) return found.value_or(batch.base_timestamp());
  }
  return std::nullopt;
}

std::optional<int64_t> timestamp_at(WireClient& client, const PartitionName& partition,
                                    int64_t offset) {
  std::vector<wire::FetchRequest::Partition> asked{{.partition = partition.partition,
                                                    .fetch_offset = offset,
                                                    .partition_max_bytes = kFetchSizeMax}};
  std::vector<wire::FetchRequest::Topic> topics{
      {.topic = partition.topic, .partitions = array_of(asked)}};
  const wire::FetchRequest request{
      .max_wait_ms = 0, .min_bytes = 0, .max_bytes = kFetchSizeMax, .topics = array_of(topics)};
  const auto answer = client.call<wire::FetchResponse>(request, kFetchVersionMax);
  check(answer->error_code, "Fetch");
  for (const auto& topic : answer->responses) {
    for (const auto& read : topic.partitions) {
      if (read.error_code != 0 || read.records.pieces.empty()) continue;
      if (const auto found = timestamp_in(read.records.pieces[0], offset)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace weir::tools
