#pragma once
// The topic of a bench step: made, found, emptied of doubt, removed.

#include <string>
#include <utility>
#include <vector>

#include "bench/load/plan.h"
#include "tools/weir/wire_client.h"

namespace weir::tools {

struct BenchTopic {
  std::string name;
  int32_t partitions = 1;
  std::vector<std::pair<std::string, std::string>> configs{};
};

// Throws Failure with what the broker said; a setting it does not know is such a reason.
void create_bench_topic(WireClient& client, const BenchTopic& topic);
// Nothing happens when it is gone already.
void delete_bench_topic(WireClient& client, const std::string& name);

// Versions, leaders, addresses and offsets of a topic. Waits until every partition has a leader,
// kLeaderTimeout_ms at most.
load::Target find_target(WireClient& client, const std::string& topic);

inline constexpr int kLeaderTimeout_ms = 30'000;

}  // namespace weir::tools
