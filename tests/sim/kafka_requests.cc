#include "tests/sim/kafka_requests.h"

#include <algorithm>

namespace weir::simtest {
namespace {

// Calls write(part) for every part, grouped by topic as the requests want them.
template <class Part, class Where, class Function>
void by_topic(Writer& writer, std::span<const Part> parts, Where where, Function write) {
  std::map<std::string, std::vector<const Part*>> topics;
  for (const Part& part : parts) topics[where(part).topic].push_back(&part);
  writer.i32(static_cast<int64_t>(topics.size()));
  for (const auto& [topic, members] : topics) {
    writer.text(topic).i32(static_cast<int64_t>(members.size()));
    for (const Part* part : members) write(*part);
  }
}

// Calls read(topic, partition) where the next field is what follows the partition's index.
template <class Function>
void each_partition(Reader& body, Function read) {
  for (int32_t topics = body.count(); topics > 0 && body.ok(); --topics) {
    const std::string topic = body.text();
    for (int32_t parts = body.count(); parts > 0 && body.ok(); --parts) {
      const int32_t index = body.i32();
      read(TopicPartition{topic, index});
    }
  }
}

constexpr auto kSelf = [](const auto& part) -> const TopicPartition& { return part; };
constexpr auto kWhere = [](const auto& part) -> const TopicPartition& { return part.where; };

}  // namespace

std::string to_string(const TopicPartition& where) {
  return where.topic + "-" + std::to_string(where.partition);
}

ByteString produce_request(int, int acks, int32_t timeout_ms, std::span<const ProducePart> parts,
                           const std::string& transactional_id) {
  Writer writer;
  transactional_id.empty() ? writer.null_text() : writer.text(transactional_id);
  writer.i16(acks).i32(timeout_ms);
  by_topic(writer, parts, kWhere, [&](const ProducePart& part) {
    writer.i32(part.where.partition).blob(part.batch);
  });
  return writer.take();
}

std::map<TopicPartition, ProduceResult> read_produce(int version, Reader& body) {
  std::map<TopicPartition, ProduceResult> results;
  each_partition(body, [&](const TopicPartition& where) {
    ProduceResult& result = results[where];
    result.error = body.i16();
    result.base_offset = body.i64();
    body.i64();  // log append time
    result.log_start_offset = body.i64();
    if (version < 8) return;
    for (int32_t errors = body.count(); errors > 0; --errors) {
      body.i32();
      body.text();
    }
    body.text();
  });
  body.i32();  // throttle time
  return results;
}

ByteString fetch_request(const FetchOptions& options, std::span<const FetchPart> parts) {
  Writer writer;
  writer.i32(-1).i32(options.wait_ms_max).i32(options.size_min).i32(options.size_max);
  writer.i8(options.read_committed ? 1 : 0).i32(0).i32(-1);  // no session
  by_topic(writer, parts, kWhere, [&](const FetchPart& part) {
    writer.i32(part.where.partition).i32(-1).i64(part.offset).i64(-1);
    writer.i32(options.partition_size_max);
  });
  writer.i32(0).text("");  // nothing forgotten, no rack
  return writer.take();
}

std::map<TopicPartition, FetchResult> read_fetch(Reader& body) {
  std::map<TopicPartition, FetchResult> results;
  body.i32();  // throttle time
  const int error = body.i16();
  body.i32();  // session
  each_partition(body, [&](const TopicPartition& where) {
    FetchResult& result = results[where];
    result.error = body.i16();
    if (error != codes::kNone) result.error = error;
    result.high_watermark = body.i64();
    result.last_stable_offset = body.i64();
    result.log_start_offset = body.i64();
    for (int32_t aborted = body.count(); aborted > 0; --aborted) {
      const int64_t producer_id = body.i64();
      result.aborted.emplace_back(producer_id, body.i64());
    }
    body.i32();  // preferred replica
    result.records = body.blob();
  });
  return results;
}

ByteString list_offsets_request(int version, int64_t timestamp,
                                std::span<const TopicPartition> parts) {
  Writer writer;
  writer.i32(-1);
  if (version >= 2) writer.i8(0);
  by_topic(writer, parts, kSelf, [&](const TopicPartition& part) {
    writer.i32(part.partition).i64(timestamp);
  });
  return writer.take();
}

std::map<TopicPartition, OffsetResult> read_list_offsets(int version, Reader& body) {
  std::map<TopicPartition, OffsetResult> results;
  if (version >= 2) body.i32();
  each_partition(body, [&](const TopicPartition& where) {
    OffsetResult& result = results[where];
    result.error = body.i16();
    result.timestamp = body.i64();
    result.offset = body.i64();
  });
  return results;
}

ByteString metadata_request(std::span<const std::string> topics, bool auto_create) {
  Writer writer;
  writer.i32(static_cast<int64_t>(topics.size()));
  for (const std::string& topic : topics) writer.text(topic);
  writer.i8(auto_create ? 1 : 0);
  return writer.take();
}

std::map<std::string, TopicInfo> read_metadata(Reader& body) {
  std::map<std::string, TopicInfo> topics;
  body.i32();  // throttle time
  for (int32_t brokers = body.count(); brokers > 0 && body.ok(); --brokers) {
    body.i32();
    body.text();
    body.i32();
    body.text();
  }
  body.text();  // cluster id
  body.i32();   // controller
  for (int32_t count = body.count(); count > 0 && body.ok(); --count) {
    const int error = body.i16();
    TopicInfo& topic = topics[body.text()];
    topic.error = error;
    body.i8();  // internal
    for (int32_t parts = body.count(); parts > 0 && body.ok(); --parts) {
      const int part_error = body.i16();
      topic.partitions[body.i32()] = part_error;
      body.i32();  // leader
      for (int32_t replicas = body.count(); replicas > 0; --replicas) body.i32();
      for (int32_t in_sync = body.count(); in_sync > 0; --in_sync) body.i32();
    }
  }
  return topics;
}

ByteString create_topic_request(const std::string& name, int32_t partitions,
                                const std::map<std::string, std::string>& configs) {
  Writer writer;
  writer.i32(1).text(name).i32(partitions).i16(1).i32(0);
  writer.i32(static_cast<int64_t>(configs.size()));
  for (const auto& [key, value] : configs) writer.text(key).text(value);
  writer.i32(5'000).i8(0);
  return writer.take();
}

int read_create_topic(Reader& body, std::string& message) {
  body.i32();  // throttle time
  if (body.count() != 1) return -1;
  body.text();
  const int error = body.i16();
  message = body.text();
  return error;
}

ByteString delete_records_request(const TopicPartition& where, int64_t offset) {
  Writer writer;
  by_topic(writer, std::span(&where, 1), kSelf, [&](const TopicPartition& part) {
    writer.i32(part.partition).i64(offset);
  });
  writer.i32(30'000);
  return writer.take();
}

DeletedResult read_delete_records(const TopicPartition& where, Reader& body) {
  DeletedResult result;
  body.i32();  // throttle time
  each_partition(body, [&](const TopicPartition& part) {
    const int64_t low_watermark = body.i64();
    const int error = body.i16();
    if (part == where) result = {error, low_watermark};
  });
  return result;
}

ByteString init_producer_id_request(const std::string& transactional_id) {
  Writer writer;
  transactional_id.empty() ? writer.null_text() : writer.text(transactional_id);
  writer.i32(60'000);
  return writer.take();
}

int read_init_producer_id(Reader& body, int64_t& producer_id, int16_t& epoch) {
  body.i32();  // throttle time
  const int error = body.i16();
  producer_id = body.i64();
  epoch = static_cast<int16_t>(body.i16());
  return error;
}

ByteString find_coordinator_request(const std::string& group) {
  Writer writer;
  writer.text(group);
  return writer.take();
}

int read_find_coordinator(Reader& body) { return body.i16(); }

ByteString offset_commit_request(const std::string& group, std::span<const CommitPart> parts) {
  Writer writer;
  writer.text(group).i32(-1).text("").i64(-1);  // no generation, no member, default retention
  by_topic(writer, parts, kWhere, [&](const CommitPart& part) {
    writer.i32(part.where.partition).i64(part.offset).text(part.metadata);
  });
  return writer.take();
}

std::map<TopicPartition, int> read_offset_commit(Reader& body) {
  std::map<TopicPartition, int> errors;
  each_partition(body, [&](const TopicPartition& where) { errors[where] = body.i16(); });
  return errors;
}

ByteString offset_fetch_request(const std::string& group, std::span<const TopicPartition> parts) {
  Writer writer;
  writer.text(group);
  by_topic(writer, parts, kSelf,
           [&](const TopicPartition& part) { writer.i32(part.partition); });
  return writer.take();
}

std::map<TopicPartition, CommittedResult> read_offset_fetch(Reader& body) {
  std::map<TopicPartition, CommittedResult> results;
  each_partition(body, [&](const TopicPartition& where) {
    CommittedResult& result = results[where];
    result.offset = body.i64();
    result.metadata = body.text();
    result.error = body.i16();
  });
  return results;
}

namespace {

void write_claim(Writer& writer, const ProducerStamp& stamp) {
  writer.i64(stamp.producer_id).i16(stamp.epoch);
}

}  // namespace

ByteString add_partitions_request(const std::string& transactional_id, const ProducerStamp& stamp,
                                  const std::string& topic, std::span<const int32_t> partitions) {
  Writer writer;
  writer.text(transactional_id);
  write_claim(writer, stamp);
  writer.i32(1).text(topic).i32(static_cast<int64_t>(partitions.size()));
  for (const int32_t partition : partitions) writer.i32(partition);
  return writer.take();
}

ByteString add_offsets_request(const std::string& transactional_id, const ProducerStamp& stamp,
                               const std::string& group) {
  Writer writer;
  writer.text(transactional_id);
  write_claim(writer, stamp);
  writer.text(group);
  return writer.take();
}

ByteString txn_offset_commit_request(const std::string& transactional_id, const std::string& group,
                                     const ProducerStamp& stamp, const CommitPart& part) {
  Writer writer;
  writer.text(transactional_id).text(group);
  write_claim(writer, stamp);
  writer.i32(1).text(part.where.topic).i32(1).i32(part.where.partition);
  writer.i64(part.offset).i32(-1).text(part.metadata);
  return writer.take();
}

ByteString end_txn_request(const std::string& transactional_id, const ProducerStamp& stamp,
                           bool commit) {
  Writer writer;
  writer.text(transactional_id);
  write_claim(writer, stamp);
  writer.i8(commit ? 1 : 0);
  return writer.take();
}

std::map<TopicPartition, int> read_partition_errors(Reader& body) {
  std::map<TopicPartition, int> errors;
  each_partition(body, [&](const TopicPartition& where) { errors[where] = body.i16(); });
  return errors;
}

}  // namespace weir::simtest
