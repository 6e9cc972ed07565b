#pragma once
// Reads a topic offset by offset where it must, and notes what is refused: for tests of damage,
// where a client library would wait and try again.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tests/crash/load.h"

namespace weir::crashtest {

struct Audit {
  std::map<Load::Place, uint64_t> records;  // what is served
  std::set<Load::Place> refused;            // KAFKA_STORAGE_ERROR
  std::map<int32_t, int64_t> ends;          // high watermarks
  // What must never be: no answer, a record that is none of ours or out of place, an offset below
  // the high watermark that is neither served nor refused.
  std::string fault;
};

// All partitions of the load's topic from offset 0 on.
Audit audit(uint16_t port);

// Empty when every record that is served is what was acknowledged there, and each acknowledged one
// is served or refused; else what is wrong.
std::string compare(const std::map<Load::Place, uint64_t>& acked, const Audit& audit);

}  // namespace weir::crashtest
