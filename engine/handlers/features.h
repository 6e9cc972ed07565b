#pragma once
// The feature levels of this node (KIP-584): one feature, at the level that is served.

#include <cstdint>
#include <string_view>

namespace weir::handlers {

// KIP-890: 2 means that Produce 12, TxnOffsetCommit 5 and EndTxn 5 do what AddPartitionsToTxn did.
inline constexpr std::string_view kTransactionVersion = "transaction.version";
inline constexpr int16_t kTransactionVersionLevel = 2;

}  // namespace weir::handlers
