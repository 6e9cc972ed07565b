#include "tests/sim/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {

std::string check_replay(const Trace& first, const Trace& second) {
  if (first.hash == second.hash && first.events == second.events) return {};
  const auto [left, right] = std::ranges::mismatch(first.hashes, second.hashes);
  const auto same = static_cast<uint64_t>(left - first.hashes.begin()) * TraceLog::kStep;
  const bool known = left != first.hashes.end() && right != second.hashes.end();
  const uint64_t end = known ? same + TraceLog::kStep : std::max(first.events, second.events);
  return fmt::format(
      "I20: trace hash {:016x} after {} events, and {:016x} after {} the second time; they part "
      "between events {} and {}",
      first.hash, first.events, second.hash, second.events, same, end);
}

}  // namespace weir::simtest
