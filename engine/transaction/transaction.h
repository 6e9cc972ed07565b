#pragma once
// What is known of one transactional id, and what may become of it: the rules of KIP-98, KIP-360
// and KIP-890 as functions from one value to the next (TransactionMetadata, TransactionCoordinator;
// SCOPE 8). Nothing here writes or sends; TransactionCoordinator makes a value durable before it
// counts.
//
//   empty ──add──▶ ongoing ──end──▶ prepare_commit ─markers─▶ complete_commit ──add──▶ ongoing …
//                     └──end, fence, timeout──▶ prepare_abort ─markers─▶ complete_abort
//   init: empty again, with a new epoch

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/model/error_code.h"
#include "engine/model/ids.h"

namespace weir::transaction {

// Numbers of TransactionLogValue.
enum class TransactionState : int8_t {
  empty = 0,
  ongoing = 1,
  prepare_commit = 2,
  prepare_abort = 3,
  complete_commit = 4,
  complete_abort = 5,
  dead = 6,
  prepare_epoch_fence = 7,
};

// As DescribeTransactions and ListTransactions spell it; "" for no state.
[[nodiscard]] std::string_view name(TransactionState state);

// How the client ends transactions: from 2 on every end gives it a new epoch (KIP-890).
inline constexpr int16_t kEpochBumpVersion = 2;

struct TopicPartitions {
  std::string topic;  // its name, for records and tools; the serial is what counts
  std::set<int32_t> partitions;
  bool operator==(const TopicPartitions&) const = default;
};
using TransactionPartitions = std::map<model::TopicSerial, TopicPartitions>;

struct TransactionValue {
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerId previous_producer_id = model::kNoProducerId;  // whose epochs were used up
  model::ProducerId next_producer_id = model::kNoProducerId;      // when the end is complete
  model::ProducerEpoch epoch{-1};
  model::ProducerEpoch last_epoch{-1};  // the one before, for who missed the answer; -1: fenced
  int32_t timeout_ms = 0;
  TransactionState state = TransactionState::empty;
  TransactionPartitions partitions;
  int64_t start_ms = -1;
  int64_t update_ms = -1;
  int16_t client_version = 0;

  bool is(TransactionState s) const { return state == s; }
  bool is_preparing() const {
    return state == TransactionState::prepare_commit || state == TransactionState::prepare_abort;
  }
  // No transaction: nothing was begun, or it is over.
  bool is_idle() const { return !is_preparing() && state != TransactionState::ongoing; }
  // The next epoch would be one that is for fencing only.
  bool is_epoch_exhausted() const;
  bool contains(model::PartitionKey key) const;
  size_t partition_count() const;
  bool operator==(const TransactionValue&) const = default;
};

// What to do about a request: answer it with `error`, or make `next` durable and then answer; first
// with a new producer id where `needs_producer_id`.
struct Decision {
  enum class Do : uint8_t { answer, write };
  Do what = Do::answer;
  model::ErrorCode error = model::ErrorCode::none;
  bool needs_producer_id = false;
  TransactionValue next;
};

struct Claim {
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch epoch{-1};
};

// InitProducerId. The claim is empty, or what the producer had (KIP-360). An open transaction is to
// be aborted first: `next` is prepare_abort then, and the answer CONCURRENT_TRANSACTIONS.
[[nodiscard]] Decision decide_init(const TransactionValue& now, const Claim& claim,
                                   int32_t timeout_ms, int64_t now_ms);
// After Decision.needs_producer_id.
void take_producer_id(Decision& decision, model::ProducerId producer_id);

// Whether the claim may use the transaction at all: AddPartitionsToTxn, AddOffsetsToTxn and what
// implies them.
[[nodiscard]] model::ErrorCode check_claim(const TransactionValue& now, const Claim& claim);
// `added`: partitions that are not in it yet.
[[nodiscard]] Decision decide_add(const TransactionValue& now, const TransactionPartitions& added,
                                  int16_t client_version, int64_t now_ms);

struct End {
  bool commit = false;
  bool bumps_epoch = false;  // EndTxn 5 and later
};
[[nodiscard]] Decision decide_end(const TransactionValue& now, const Claim& claim, const End& end,
                                  int64_t now_ms);

// Nobody goes on with it: aborted with an epoch that fences whoever thinks otherwise.
[[nodiscard]] TransactionValue fenced(const TransactionValue& now, int64_t now_ms);
// All markers are written.
[[nodiscard]] TransactionValue completed(const TransactionValue& now, int64_t now_ms);
// What the producer is told at the end of a preparing transaction.
[[nodiscard]] Claim claim_after(const TransactionValue& now);

}  // namespace weir::transaction
