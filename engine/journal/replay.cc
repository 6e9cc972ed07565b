#include "engine/journal/replay.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/base/units.h"
#include "io/locked_open.h"
#include "io/whole_transfer.h"

namespace weir::journal {
namespace {

constexpr uint64_t kReadSize = 4 << 20;

struct Found {
  RecordHeader header;
  std::vector<Entry> entries;
  std::vector<Entry> echo;
};

struct Reader {
  io::Op op;
  io::WholeRead read;
  Reader() {
    op.bind<&Reader::on_op>(*this);
    read.bind<&Reader::on_read>(*this);
  }
  void on_op(io::Op&) {}
  void on_read(io::WholeRead&) {}
};

// Reads the whole file; a part that the medium refuses is read block by block, and what stays
// unreadable is left blank: the checks above find it like any other damage (F16).
int read_image(io::Loop& loop, io::Disk& disk, io::FileId file, std::span<std::byte> image) {
  Reader reader;
  for (uint64_t at = 0; at < image.size(); at += kReadSize) {
    const auto part = image.subspan(at, std::min<uint64_t>(kReadSize, image.size() - at));
    reader.read.start(disk, file, part, at);
    loop.run_until(reader.read.op());
    if (reader.read.error() == 0) continue;
    uint64_t unreadable = 0;
    for (uint64_t block = 0; block < part.size(); block += io::kBlockSize) {
      reader.read.start(disk, file, part.subspan(block, io::kBlockSize), at + block);
      loop.run_until(reader.read.op());
      if (reader.read.error() == 0) continue;
      std::memset(part.data() + block, 0, io::kBlockSize);
      ++unreadable;
    }
    if (unreadable * io::kBlockSize == part.size()) return reader.read.error();
    base::log_error("journal", "unreadable blocks={} position={}", unreadable, at);
  }
  return 0;
}

bool agreed_superblock(std::span<const std::byte> image, Superblock& superblock) {
  std::vector<Superblock> sound;
  for (uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    Superblock candidate;
    if (decode_superblock(image.subspan(copy * io::kBlockSize, io::kBlockSize), copy, candidate)) {
      sound.push_back(candidate);
    }
  }
  for (const Superblock& candidate : sound) {
    const auto same = std::ranges::count_if(sound, [&](const Superblock& other) {
      return other.log_id == candidate.log_id && other.generation == candidate.generation;
    });
    if (same < 2) continue;
    superblock = candidate;
    return true;
  }
  return false;
}

// Of any copy; 0: none is newer than what this program knows.
uint32_t newer_version(std::span<const std::byte> image) {
  uint32_t newest = 0;
  for (uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    const auto block = image.subspan(copy * io::kBlockSize, io::kBlockSize);
    newest = std::max(newest, superblock_version(block));
  }
  return newest > kRecordVersion ? newest : 0;
}

std::map<uint64_t, Found> find_records(std::span<const std::byte> image,
                                       const Superblock& superblock) {
  std::map<uint64_t, Found> found;
  // Block by block, never by the size in a header: a newer record may begin inside the place of an
  // older one.
  for (uint64_t at = kRecordsBegin; at + io::kBlockSize <= image.size(); at += io::kBlockSize) {
    Found record;
    const auto fault = decode_header(image.subspan(at, io::kBlockSize), superblock.log_id,
                                     superblock.generation, at, record.header);
    if (fault != RecordFault::none || record.header.size > image.size() - at) continue;
    const auto bytes = image.subspan(at, record.header.size);
    if (decode_record(bytes, record.header, record.entries, record.echo) != RecordFault::none) {
      continue;
    }
    found.insert_or_assign(record.header.sequence, std::move(record));
  }
  return found;
}

bool payloads_sound(std::span<const std::byte> bytes, const Found& found) {
  if (model::planted(model::Bug::header_only_checksum)) return true;
  return std::ranges::all_of(found.entries,
                             [&](const Entry& entry) { return payload_sound(bytes, entry); });
}

// `bytes` is the record's place in the image.
void take(Replay& replay, uint64_t sequence, std::span<const Entry> entries,
          std::span<const std::byte> bytes, bool acknowledged) {
  ReplayedRecord record{.sequence = sequence, .acknowledged = acknowledged};
  for (const Entry& entry : entries) {
    const bool sound =
        model::planted(model::Bug::header_only_checksum) || payload_sound(bytes, entry);
    if (!sound) ++replay.damaged_entries;
    record.entries.push_back(
        {entry, bytes.subspan(entry.payload_position, entry.payload_size), sound});
  }
  replay.records.push_back(std::move(record));
}

// An acknowledged record does not check out: the next one knows what it held, and whatever payload
// is whole is taken. Without a next one nobody can tell whose bytes are gone.
void take_damaged(Replay& replay, const std::map<uint64_t, Found>& found, uint64_t sequence,
                  std::span<const std::byte> image) {
  ++replay.damaged_records;
  const auto next = found.find(sequence + 1);
  const RecordHeader* header = next == found.end() ? nullptr : &next->second.header;
  if (!header || header->previous_position > image.size() ||
      header->previous_size > image.size() - header->previous_position) {
    replay.records.push_back({.sequence = sequence, .acknowledged = true, .damaged = true});
    return;
  }
  take(replay, sequence, next->second.echo,
       image.subspan(header->previous_position, header->previous_size), true);
}

void decide(Replay& replay, const std::map<uint64_t, Found>& found,
            std::span<const std::byte> image) {
  if (found.empty()) return;
  for (const auto& [sequence, record] : found) {
    replay.acknowledged = std::max(replay.acknowledged, record.header.durable_sequence);
  }
  const Found& newest = found.rbegin()->second;
  const uint64_t last = newest.header.sequence;
  const Found* previous = nullptr;
  for (uint64_t sequence = newest.header.tail_sequence; sequence <= last; ++sequence) {
    const auto it = found.find(sequence);
    const bool acknowledged = sequence <= replay.acknowledged &&
                              !model::planted(model::Bug::cut_at_first_bad_regardless);
    if (it == found.end()) {
      if (!acknowledged) {
        replay.dropped_records = static_cast<uint64_t>(
            std::distance(found.lower_bound(sequence), found.end()));
        return;
      }
      take_damaged(replay, found, sequence, image);
      previous = nullptr;
      continue;
    }
    const Found& record = it->second;
    const auto bytes = image.subspan(record.header.position, record.header.size);
    const bool chained =
        !previous || record.header.previous_checksum == previous->header.checksum;
    if (!acknowledged && (!chained || !payloads_sound(bytes, record))) {
      replay.dropped_records =
          static_cast<uint64_t>(std::distance(it, found.end())) - 1;
      if (model::planted(model::Bug::cut_kept_one_too_many)) {
        take(replay, sequence, record.entries, bytes, true);
      }
      return;
    }
    take(replay, sequence, record.entries, bytes, acknowledged);
    previous = &record;
  }
}

}  // namespace

base::Result<Replay> replay_journal(io::Loop& loop, io::Disk& disk, const std::string& path,
                                    uint64_t generation) {
  const auto failure = [&](const char* what, int code) {
    return base::error(code, fmt::format("journal {}: {}: {}", path, what, std::strerror(code)));
  };
  TRY(const io::FileInfo info, disk.info(path));
  const uint64_t size = base::round_down(info.size, io::kBlockSize);
  if (size < kRecordsBegin) return failure("too short to be a journal", EINVAL);

  Reader reader;
  TRY(const io::FileId file, io::open_locked(loop, disk, path, {.direct = true}));
  // What is read now must not be lost by a later power cut: a dead process's writes may still be in
  // the device's cache only (L10).
  disk.sync(reader.op, file);
  loop.run_until(reader.op);
  int error = std::min(reader.op.result(), 0);

  Replay replay;
  replay.image = {base::allocate_aligned(io::kBlockSize, size), std::free};
  const std::span<std::byte> image(replay.image.get(), size);
  if (error == 0) error = -read_image(loop, disk, file, image);
  disk.close(reader.op, file);
  loop.run_until(reader.op);
  if (error != 0) return failure("cannot read", -error);

  if (const uint32_t version = newer_version(image); version > 0) {
    return base::error(EINVAL, fmt::format("journal {} has format version {}, this program knows "
                                           "version {}: it was written by a newer one",
                                           path, version, kRecordVersion));
  }
  if (!agreed_superblock(image, replay.superblock)) {
    return base::error(EINVAL,
                       fmt::format("journal {}: fewer than two sound superblock copies; restore "
                                   "the file from a copy of the data directory",
                                   path));
  }
  if (replay.superblock.generation != generation) {
    return base::error(EINVAL, fmt::format("journal {}: generation {} where meta.json says {}",
                                           path, replay.superblock.generation, generation));
  }
  decide(replay, find_records(image, replay.superblock), image);
  if (replay.damaged_records > 0 || replay.damaged_entries > 0) {
    base::log_error("journal", "acknowledged data is damaged file={} records={} entries={}", path,
                    replay.damaged_records, replay.damaged_entries);
  }
  return replay;
}

}  // namespace weir::journal
