#pragma once
// Requests and responses of the few APIs that the simulator's clients speak, in one fixed version
// each (Produce and InitProducerId and ListOffsets in two). Bodies only; connection.h adds headers.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/kafka_bytes.h"

namespace weir::simtest {

enum class Api : int16_t {
  produce = 0,
  fetch = 1,
  list_offsets = 2,
  metadata = 3,
  offset_commit = 8,
  offset_fetch = 9,
  find_coordinator = 10,
  create_topics = 19,
  delete_topics = 20,
  delete_records = 21,
  init_producer_id = 22,
  add_partitions_to_txn = 24,
  add_offsets_to_txn = 25,
  end_txn = 26,
  txn_offset_commit = 28,
  consumer_group_heartbeat = 68,
};

// The error codes that the clients tell apart.
namespace codes {
inline constexpr int kNone = 0;
inline constexpr int kOffsetOutOfRange = 1;
inline constexpr int kCorruptMessage = 2;
inline constexpr int kUnknownTopicOrPartition = 3;
inline constexpr int kLeaderNotAvailable = 5;
inline constexpr int kNotLeader = 6;
inline constexpr int kRequestTimedOut = 7;
inline constexpr int kCoordinatorLoading = 14;
inline constexpr int kCoordinatorNotAvailable = 15;
inline constexpr int kNotCoordinator = 16;
inline constexpr int kNotEnoughReplicas = 19;
inline constexpr int kUnknownMemberId = 25;
inline constexpr int kTopicAlreadyExists = 36;
inline constexpr int kNotController = 41;
inline constexpr int kOutOfOrderSequence = 45;
inline constexpr int kDuplicateSequence = 46;
inline constexpr int kInvalidProducerEpoch = 47;
inline constexpr int kInvalidTxnState = 48;
inline constexpr int kInvalidProducerIdMapping = 49;
inline constexpr int kConcurrentTransactions = 51;
inline constexpr int kStorageError = 56;
inline constexpr int kUnknownProducerId = 59;
inline constexpr int kGroupIdNotFound = 69;
inline constexpr int kProducerFenced = 90;
inline constexpr int kFencedMemberEpoch = 110;
}  // namespace codes

struct TopicPartition {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const TopicPartition&) const = default;
};
std::string to_string(const TopicPartition& where);

// --- produce v7, v8 ---
struct ProducePart {
  TopicPartition where;
  ByteSpan batch;
};
ByteString produce_request(int version, int acks, int32_t timeout_ms,
                           std::span<const ProducePart> parts,
                           const std::string& transactional_id = {});
struct ProduceResult {
  int error = 0;
  int64_t base_offset = -1;
  int64_t log_start_offset = -1;
};
std::map<TopicPartition, ProduceResult> read_produce(int version, Reader& body);

// --- fetch v11 ---
struct FetchPart {
  TopicPartition where;
  int64_t offset = 0;
};
struct FetchOptions {
  int32_t wait_ms_max = 100;
  int32_t size_min = 1;
  int32_t size_max = 1 << 20;
  int32_t partition_size_max = 1 << 20;
  bool read_committed = false;
};
ByteString fetch_request(const FetchOptions& options, std::span<const FetchPart> parts);
struct FetchResult {
  int error = 0;
  int64_t high_watermark = -1;
  int64_t last_stable_offset = -1;
  int64_t log_start_offset = -1;
  ByteSpan records;  // views the response
  std::vector<std::pair<int64_t, int64_t>> aborted{};  // producer id, first offset
};
std::map<TopicPartition, FetchResult> read_fetch(Reader& body);

// --- list offsets v1, v2 ---
inline constexpr int64_t kLatest = -1;
inline constexpr int64_t kEarliest = -2;
ByteString list_offsets_request(int version, int64_t timestamp,
                                std::span<const TopicPartition> parts);
struct OffsetResult {
  int error = 0;
  int64_t timestamp = -1;
  int64_t offset = -1;
};
std::map<TopicPartition, OffsetResult> read_list_offsets(int version, Reader& body);

// --- metadata v4 ---
ByteString metadata_request(std::span<const std::string> topics, bool auto_create);
struct TopicInfo {
  int error = 0;
  std::map<int32_t, int> partitions;  // index -> error code
};
std::map<std::string, TopicInfo> read_metadata(Reader& body);

// --- create topics v2 ---
ByteString create_topic_request(const std::string& name, int32_t partitions,
                                const std::map<std::string, std::string>& configs);
int read_create_topic(Reader& body, std::string& message);

// --- delete records v1 ---
ByteString delete_records_request(const TopicPartition& where, int64_t offset);
struct DeletedResult {
  int error = -1;  // -1: the partition is missing in the answer
  int64_t low_watermark = -1;
};
DeletedResult read_delete_records(const TopicPartition& where, Reader& body);

// --- init producer id v0, v1 ---
ByteString init_producer_id_request(const std::string& transactional_id = {});
int read_init_producer_id(Reader& body, int64_t& producer_id, int16_t& epoch);

// --- find coordinator v0 ---
ByteString find_coordinator_request(const std::string& group);
int read_find_coordinator(Reader& body);

// --- offset commit v2, offset fetch v1 ---
struct CommitPart {
  TopicPartition where;
  int64_t offset = -1;
  std::string metadata;
};
ByteString offset_commit_request(const std::string& group, std::span<const CommitPart> parts);
std::map<TopicPartition, int> read_offset_commit(Reader& body);
ByteString offset_fetch_request(const std::string& group, std::span<const TopicPartition> parts);
struct CommittedResult {
  int error = 0;
  int64_t offset = -1;
  std::string metadata;
};
std::map<TopicPartition, CommittedResult> read_offset_fetch(Reader& body);

// --- add partitions to txn v2, add offsets to txn v2, txn offset commit v2, end txn v2 ---
ByteString add_partitions_request(const std::string& transactional_id, const ProducerStamp& stamp,
                                  const std::string& topic, std::span<const int32_t> partitions);
ByteString add_offsets_request(const std::string& transactional_id, const ProducerStamp& stamp,
                               const std::string& group);
ByteString txn_offset_commit_request(const std::string& transactional_id, const std::string& group,
                                     const ProducerStamp& stamp, const CommitPart& part);
ByteString end_txn_request(const std::string& transactional_id, const ProducerStamp& stamp,
                           bool commit);
// Topics, partitions and their errors, behind the throttle time.
std::map<TopicPartition, int> read_partition_errors(Reader& body);

}  // namespace weir::simtest
