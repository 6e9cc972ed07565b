#pragma once
// The feature levels of this node (KIP-584), each at the level that is served.

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::handlers {

struct Feature {
  std::string_view name;
  int16_t level;  // supported from 0 on, finalized at this one
};

inline constexpr std::array kFeatures = {
    // KIP-848: 1 means that consumer groups are served.
    Feature{"group.version", 1},
    // KIP-890: 2 means that Produce 12, TxnOffsetCommit 5 and EndTxn 5 do what AddPartitionsToTxn
    // did.
    Feature{"transaction.version", 2},
};

}  // namespace weir::handlers
