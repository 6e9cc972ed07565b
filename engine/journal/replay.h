#pragma once
// Replay: what one journal file says after a crash (RELIABILITY 2.3, L3, L4). Straight-line, at
// start.
//
// Evidence: a record carries durable_sequence, the newest record known acknowledged when it was
// submitted. The greatest of them all, `acknowledged`, splits the live records: those up to it were
// acknowledged, so one that does not check out is rot and what lies behind it stays; those after it
// may have been torn, so the first that does not check out ends the journal and everything behind
// it goes.
//
// Documented blind spot: rot in the records behind `acknowledged` (at most those in flight plus the
// frontier delay) looks like a torn tail.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/journal/record.h"
#include "io/disk.h"
#include "io/loop.h"

namespace weir::journal {

struct ReplayedEntry {
  Entry entry;
  std::span<const std::byte> payload;  // views the journal's image
  bool sound = true;                   // false: acknowledged, but the payload is damaged
};

struct ReplayedRecord {
  uint64_t sequence = 0;
  bool acknowledged = false;  // proved; else its segment writes must be verified too
  bool damaged = false;       // acknowledged, gone, and the next one too: nobody knows its entries
  std::vector<ReplayedEntry> entries{};
};

struct Replay {
  Superblock superblock;
  std::vector<ReplayedRecord> records;  // live ones, in order
  uint64_t acknowledged = 0;            // greatest durable_sequence seen
  uint64_t damaged_records = 0;         // acknowledged ones that did not check out
  uint64_t damaged_entries = 0;
  uint64_t dropped_records = 0;         // sound ones behind the cut
  std::unique_ptr<std::byte, void (*)(void*)> image{nullptr, nullptr};
};

// Reads a journal of generation `generation` from the medium. An error: unreadable or foreign file.
base::Result<Replay> replay_journal(io::Loop& loop, io::Disk& disk, const std::string& path,
                                    uint64_t generation);

}  // namespace weir::journal
