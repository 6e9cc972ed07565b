#pragma once
// Records of __transaction_state, as Kafka 4 writes them: key version 0, value version 1. Two
// things that Kafka does not keep travel in record headers, which its tools pass over: which lives
// of topics are meant, and the epoch before the present one, by which a producer that missed an
// answer is known (KIP-360). Reading takes both versions, with and without headers.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/record_batch.h"
#include "engine/transaction/transaction.h"
#include "engine/transaction/transaction_host.h"
#include "engine/wire/chain_writer.h"
#include "io/base/arena.h"

namespace weir::transaction {

inline constexpr int16_t kTransactionKeyType = 0;
inline constexpr int16_t kTransactionValueVersion = 1;
inline constexpr std::string_view kTopicSerialsHeader = "topic-serials";  // u32 each, as listed
inline constexpr std::string_view kLastEpochHeader = "last-epoch";        // i16

class RecordEncoder {
 public:
  RecordEncoder();
  // A batch of one record; without a value, a tombstone.
  void encode(std::string_view transactional_id, const TransactionValue* value, int64_t now_ms,
              std::vector<std::byte>& out);

 private:
  template <class Message>
  void encode_message(const Message& message, int16_t version, std::vector<std::byte>& out);

  base::Arena arena_;
  log::BatchBuilder builder_;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
  std::vector<std::byte> serials_;
};

struct DecodedRecord {
  std::string transactional_id;
  std::optional<TransactionValue> value;  // nothing: a tombstone
};

// Nothing: not a record of a transactional id, or malformed. Partitions of topics that are gone are
// left out.
[[nodiscard]] std::optional<DecodedRecord> decode_record(const log::Record& record,
                                                         TransactionHost& host,
                                                         base::Arena& arena);

}  // namespace weir::transaction
