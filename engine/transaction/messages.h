#pragma once
// What handlers ask of a transactional id's home core (port kTransaction). A call is memory of its
// sender; what it views lives until it is back. While a call with an arena is away the home core
// owns the arena and places in it what the answer points at.
//
// Errors are the newest ones of their meaning (PRODUCER_FENCED, TRANSACTION_ABORTABLE); which
// version of which API says what instead is the handlers' business.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "engine/transaction/transaction.h"
#include "engine/wire/messages/describe_transactions.h"
#include "engine/wire/messages/list_transactions.h"
#include "io/base/arena.h"
#include "io/clock.h"
#include "io/mailbox.h"

namespace weir::transaction {

class TransactionCall : public io::Message {
 public:
  enum class Kind : uint8_t { init_producer_id, add_partitions, end, describe, list };
  const Kind kind;
  // in; of calls that name one id
  std::string_view transactional_id;
  model::PartitionIndex state_partition;  // of __transaction_state, where the id lives
  Claim claim;
  // out
  model::ErrorCode error = model::ErrorCode::none;
  bool outcome_unknown = false;  // the device failed: close the connection, answer nothing

 protected:
  explicit TransactionCall(Kind its_kind) : kind(its_kind) {}
};

class InitProducerIdCall : public TransactionCall {
 public:
  InitProducerIdCall() : TransactionCall(Kind::init_producer_id) {}
  int32_t timeout_ms = 0;  // checked against the maximum by the home core
  Claim given;             // out
};

struct PartitionClaim {
  model::PartitionKey key;
  std::string_view topic;
  model::ErrorCode error = model::ErrorCode::none;  // out; of a call without error of its own
};

// Adds partitions to the transaction, beginning one if there is none; or only looks whether they
// are in it.
class AddPartitionsCall : public TransactionCall {
 public:
  AddPartitionsCall() : TransactionCall(Kind::add_partitions) {}
  std::span<PartitionClaim> partitions;
  bool verify_only = false;
  int16_t client_version = 0;
  uint64_t transaction = 0;  // out: its number, for what is written to these partitions
};

class EndTransactionCall : public TransactionCall {
 public:
  EndTransactionCall() : TransactionCall(Kind::end) {}
  End end;
  io::Instant connected_at;  // when the client's connection was made
  Claim given;               // out
};

class DescribeTransactionsCall : public TransactionCall {
 public:
  DescribeTransactionsCall() : TransactionCall(Kind::describe) {}
  base::Arena* arena = nullptr;
  // With their ids; the rest is to be filled in.
  std::span<wire::DescribeTransactionsResponse::Transaction*> items;
};

// The ids of one core that match.
class ListTransactionsCall : public TransactionCall {
 public:
  ListTransactionsCall() : TransactionCall(Kind::list) {}
  base::Arena* arena = nullptr;
  uint8_t states = 0xff;  // bit n: state number n
  std::span<const int64_t> producer_ids;  // empty: all
  int64_t duration_ms = -1;
  wire::Array<wire::ListTransactionsResponse::Transaction> found;  // out
};

}  // namespace weir::transaction
