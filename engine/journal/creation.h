#pragma once
// New journal files: superblock copies and zeros, so that later writes find written blocks.
// Straight-line, at start.

#include <span>
#include <string>

#include "engine/journal/record.h"
#include "io/base/result.h"
#include "io/disk.h"
#include "io/loop.h"

namespace weir::journal {

struct NewJournal {
  std::string path;
  Superblock superblock;
};

// Makes all of them at once, `size` bytes each, synced; not yet their directory. An error leaves
// files behind that no meta.json names.
base::Status create_journals(io::Loop& loop, io::Disk& disk, std::span<const NewJournal> journals,
                             uint64_t size);

}  // namespace weir::journal
