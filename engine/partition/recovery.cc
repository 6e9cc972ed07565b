#include "engine/partition/recovery.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/log/file_names.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/base/units.h"
#include "io/locked_open.h"
#include "io/waiter.h"

namespace weir::partition {

int32_t Recovery::wait(io::Op& op) {
  core_.loop.run_until(op);
  return op.result();
}

base::Result<io::FileId> Recovery::open(const std::string& path, bool create) {
  return io::open_locked(core_.loop, core_.disk, path,
                         {.create = create, .direct = true});
}

void Recovery::close(io::FileId file) {
  io::Waiter waiter;
  core_.disk.close(waiter.op, file);
  wait(waiter.op);
}

base::Status Recovery::replay(const std::string& journal_path, uint64_t generation,
                              uint32_t core) {
  TRY(journal::Replay replay,
      journal::replay_journal(core_.loop, core_.disk, journal_path, generation));
  if (replay.superblock.core != core) {
    return base::error(EINVAL, fmt::format("journal {}: it is that of core {}; restore the file "
                                           "from a copy of the data directory",
                                           journal_path, replay.superblock.core));
  }
  stats_.damaged_records += replay.damaged_records;
  stats_.damaged_entries += replay.damaged_entries;
  stats_.dropped_records += replay.dropped_records;
  for (size_t i = 0; i < replay.records.size(); ++i) {
    TRY(const bool applied, apply(replay.records[i]));
    if (!applied) {
      stats_.dropped_records += replay.records.size() - i;
      break;
    }
    ++stats_.journal_records;
  }
  return {};
}

// False: a record that nothing proves acknowledged, with a segment write that did not land: the
// end.
base::Result<bool> Recovery::apply(const journal::ReplayedRecord& record) {
  if (!record.acknowledged) {
    TRY(const bool landed, extents_landed(record));
    if (!landed) return false;
  }
  for (const auto& replayed : record.entries) {
    if (!known_.contains(replayed.entry.key)) continue;  // the topic was deleted since
    apply_entry(images_[replayed.entry.key], replayed);
  }
  return true;
}

base::Result<bool> Recovery::extents_landed(const journal::ReplayedRecord& record) {
  for (const auto& replayed : record.entries) {
    const journal::Entry& entry = replayed.entry;
    const auto known = known_.find(entry.key);
    if (entry.kind != journal::EntryKind::extent || known == known_.end()) continue;
    // Below a log start, or compacted: only what was acknowledged is, and the file may be gone.
    const auto found = list(known->second);
    if (found && entry.next_offset <= std::max(found->marked(), found->cleaned_end())) continue;
    const auto path =
        log::segment_file(known->second, entry.segment_base_offset, log::kLogSuffix);
    const auto file = open(path, false);
    if (!file && file.error().code == ENOENT) return false;
    if (!file) return std::unexpected(file.error());
    const auto landed = extent_landed(*file, path, replayed);
    close(*file);
    if (!landed || !*landed) return landed;
  }
  return true;
}

// The write of an extent began where the blocks of the segment ended, maybe below the bytes that
// the entry brings: what the journal had of these must have landed too, for nobody else will have
// it from now on.
base::Result<bool> Recovery::extent_landed(io::FileId file, const std::string& path,
                                           const journal::ReplayedEntry& replayed) {
  const journal::Entry& entry = replayed.entry;
  const auto images = images_.find(entry.key);
  std::span<const std::byte> older;
  if (images != images_.end() && !images->second.segments.empty()) {
    const Image& image = images->second.segments.back();
    const bool same = image.base_offset == entry.segment_base_offset;
    if (same && image.end() == entry.begin && image.gaps.empty()) older = image.tail;
  }
  const uint64_t from = entry.begin - older.size();
  const uint64_t begin = base::round_down(from, io::kBlockSize);
  const size_t size = entry.inline_begin - begin;
  if (size == 0) return true;
  io::Waiter waiter;
  core_.disk.sync(waiter.op, file);
  const int32_t synced = wait(waiter.op);
  // Whether it was acknowledged cannot be told from here: a start that fails loses nothing.
  if (synced < 0) {
    return base::error(-synced, fmt::format("cannot sync {}: {}", path, std::strerror(-synced)));
  }
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      base::allocate_aligned(io::kBlockSize, size), std::free);
  waiter.read.start(core_.disk, file, {memory.get(), size}, begin);
  wait(waiter.read.op());
  stats_.scanned_bytes += size;
  // A medium that cannot say keeps the record: what is unreadable is quarantined, not given away.
  if (waiter.read.error() != 0) return true;
  if (waiter.read.done() < size) return false;
  const auto written = std::span<const std::byte>(memory.get(), size).subspan(from - begin);
  const size_t old_size = std::min(older.size(), written.size());
  const auto added = written.subspan(old_size);
  return std::ranges::equal(written.first(old_size), older.first(old_size)) &&
         base::crc32c(replayed.payload, base::crc32c(added)) == entry.data_checksum;
}

void Recovery::apply_entry(Images& images, const journal::ReplayedEntry& replayed) {
  const journal::Entry& entry = replayed.entry;
  const bool is_inline = entry.kind == journal::EntryKind::inline_data;
  if (images.segments.empty() ||
      images.segments.back().base_offset != entry.segment_base_offset) {
    Image image;
    image.base_offset = entry.segment_base_offset;
    image.next_offset = entry.base_offset;
    // The oldest live record may begin in the middle; a carry or extent behind it sets this right,
    // unless the record before was lost.
    if (images.segments.empty() && is_inline && entry.begin > 0) {
      image.begins_inside = true;
      image.tail_begin = base::round_down(entry.begin, io::kBlockSize);
      image.tail.resize(entry.begin - image.tail_begin);
      image.gaps.push_back({image.tail_begin, entry.begin, entry.base_offset});
    }
    images.segments.push_back(std::move(image));
  }
  Image& image = images.segments.back();
  if (!is_inline) {
    const bool keeps_old = !replayed.sound && image.end() == entry.end;
    if (!keeps_old) {
      image.begins_inside = false;
      image.tail_begin = entry.inline_begin;
      image.tail.clear();
      image.gaps.clear();
    }
    if (!keeps_old && replayed.sound) {
      image.tail.assign(replayed.payload.begin(), replayed.payload.end());
    }
  } else if (entry.begin > image.end()) {
    image.gaps.push_back({image.end(), entry.begin, entry.base_offset});
    image.tail.resize(entry.begin - image.tail_begin);
  }
  if (is_inline && replayed.sound && entry.begin == image.end()) {
    image.tail.insert(image.tail.end(), replayed.payload.begin(), replayed.payload.end());
  }
  if (image.end() < entry.end) {
    Gap gap{image.end(), entry.end, entry.next_offset};
    if (gap.begin == entry.inline_begin) gap.checksum = entry.payload_checksum;
    image.gaps.push_back(gap);
    image.tail.resize(entry.end - image.tail_begin);
  }
  if (entry.next_offset > entry.base_offset) {
    image.starts.emplace_back(entry.begin, entry.base_offset);
  }
  image.next_offset = entry.next_offset;
}

base::Result<std::map<model::PartitionKey, Recovered>> Recovery::finish() {
  std::map<model::PartitionKey, Recovered> all;
  if (!known_.empty()) {
    const std::string& any = known_.begin()->second;
    CHECK_OK(sync_directory(any.substr(0, any.rfind('/'))));
  }
  std::vector<Listed> listed;
  for (const auto& [key, directory] : known_) {
    const bool in_journal = images_.contains(key);
    if (!core_.disk.info(directory) && !in_journal) continue;
    TRY(Found found, list(directory));
    if (found.segments.empty() && found.markers.empty() && !in_journal) continue;
    listed.push_back({key, directory, std::move(found)});
  }
  // A dead process may have made files whose names are not durable yet; what is appended from now
  // on needs them to be (L10). So does a log start that was not, before anybody sees it.
  CHECK_OK(sync_directories(listed));
  for (Listed& one : listed) {
    Recovered recovered;
    CHECK_OK(recover(one, recovered));
    if (!recovered.segments.empty()) all.emplace(one.key, std::move(recovered));
    images_.erase(one.key);
  }
  return all;
}

// The oldest live record may begin in the middle of a segment that was sealed since: its file says
// it all.
void Recovery::erase_sealed(std::vector<Image>& images) {
  while (images.size() > 1 && images.front().begins_inside) images.erase(images.begin());
}

// The images from the oldest that its file does not have whole to the active one, which may be
// empty.
base::Result<std::vector<Recovery::Image>> Recovery::take_images(model::PartitionKey key,
                                                                 const std::string& directory,
                                                                 Found& found) {
  std::vector<Image> images = std::move(images_[key].segments);
  if (images.empty()) {
    // No live record: nothing was acknowledged in the newest file.
    const bool plain = !found.segments.empty() && !found.segments.back().is_cleaned();
    const model::Offset base = plain ? found.segments.back().base_offset
                                     : std::max(found.marked(), found.cleaned_end());
    images.push_back({.base_offset = base, .next_offset = base});
  }
  erase_sealed(images);
  const model::Offset floor = std::max(found.marked(), found.cleaned_end());
  if (images.back().next_offset < floor) {
    base::log_error("partition", "log ends before its start directory={} end={} start={}",
                    directory, images.back().next_offset.value(), floor.value());
    images.assign(1, {.base_offset = floor, .next_offset = floor});
  }
  remove_empty(directory, found.segments, images.front().base_offset);
  const model::Offset log_end = images.back().next_offset;
  // Files behind the newest acknowledged segment: one that starts exactly at the end was made to go
  // on with; any other was made for records that were never acknowledged.
  const bool goes_on = std::ranges::binary_search(found.segments, log_end, {},
                                                  &log::SegmentName::base_offset);
  const bool rolled = images.back().end() > 0 && goes_on;
  CHECK_OK(remove_behind(directory, found, images.back()));
  if (rolled) {
    images.push_back({.base_offset = log_end, .next_offset = log_end});
    erase_sealed(images);
  }
  // What was compacted since is in its files as it is to be.
  const model::Offset cleaned_end = found.cleaned_end();
  std::erase_if(images, [&](const Image& image) { return image.base_offset < cleaned_end; });
  if (images.empty()) images.push_back({.base_offset = log_end, .next_offset = log_end});
  return images;
}

// Segments below the start are no part of the log, whatever is left of their files or of what the
// journal has of them. Oldest first.
std::vector<Recovery::Dead> Recovery::take_dead(Found& found, std::vector<Image>& images) {
  const model::Offset start = found.marked();
  std::map<model::Offset, Dead> dead;
  while (images.size() > 1 && images[1].base_offset <= start) {
    Dead& one = dead[images.front().base_offset];
    one.image = std::move(images.front());
    one.has_image = true;
    images.erase(images.begin());
  }
  const model::Offset first_image = images.front().base_offset;
  std::vector<log::SegmentName> alive;
  for (size_t i = 0; i < found.segments.size(); ++i) {
    const log::SegmentName& name = found.segments[i];
    const bool last = i + 1 == found.segments.size();
    const model::Offset next =
        last ? first_image : std::min(found.segments[i + 1].base_offset, first_image);
    if (name.base_offset >= first_image || next > start) {
      alive.push_back(name);
      continue;
    }
    Dead& one = dead[name.base_offset];
    one.name = name;
    one.has_file = true;
  }
  found.segments = std::move(alive);
  std::vector<Dead> all;
  for (auto& [base, one] : dead) {
    one.name.base_offset = base;
    if (!all.empty()) all.back().next_offset = base;
    all.push_back(std::move(one));
  }
  if (!all.empty()) {
    all.back().next_offset =
        found.segments.empty() ? first_image
                               : std::min(found.segments.front().base_offset, first_image);
  }
  return all;
}

// False: not all of it is there any more.
bool Recovery::feed_dead(const std::string& directory, Dead& dead, model::Offset producers_from,
                         Recovered& out) {
  const auto path = log::segment_file(directory, dead.name, log::kLogSuffix);
  const auto info = core_.disk.info(path);
  const auto file = open(path, false);
  if (!info || !file) return false;
  if (dead.has_image) fill_gaps(*file, dead.image);
  else dead.image.tail_begin = info->size;
  log::SegmentWalker walker(core_.loop, core_.disk, *file, dead.image.tail_begin, dead.image.tail);
  model::Offset at = dead.name.base_offset;
  while (const auto bytes = walker.next()) {
    const log::BatchView batch(*bytes);
    const bool gap = dead.name.is_cleaned() && batch.base_offset() > at;
    if (batch.base_offset() != at && !gap) break;
    take_batch(*bytes, producers_from, out);
    at = batch.next_offset();
  }
  stats_.scanned_bytes += walker.bytes_read();
  close(*file);
  return at == dead.next_offset;
}

// What only a journal has of it must stay readable until a snapshot reaches the log start: that
// journal will be gone, and the next crash may come first. Without room the window against
// duplicates shrinks to what a crash leaves.
base::Status Recovery::keep_dead(const std::string& directory, Dead& dead) {
  if (!dead.has_image || dead.image.tail.empty()) return {};
  const auto path = log::segment_file(directory, dead.name, log::kLogSuffix);
  TRY(const io::FileId file, open(path, false));
  const uint64_t stop = base::round_up(dead.image.end(), io::kBlockSize);
  dead.image.tail.resize(stop - dead.image.tail_begin);
  const base::Status moved = move_to_segment(file, dead.image, stop);
  close(file);
  if (!moved && (moved.error().code == ENOSPC || moved.error().code == EDQUOT)) return {};
  return moved;
}

// Producers as the snapshot has them, and as the batches behind it say that are below the log
// start: the crash may have come before a snapshot that reaches the start. Where that history has a
// hole, nothing that lies before it is believed.
base::Status Recovery::read_producers(const std::string& directory, std::vector<Dead>& dead,
                                      model::Offset& producers_from, Recovered& out) {
  if (!dead.empty()) producers_from = dead.front().name.base_offset;
  CHECK_OK(read_snapshot(directory, out, producers_from));
  for (Dead& one : dead) {
    if (one.next_offset <= producers_from) continue;
    if (feed_dead(directory, one, producers_from, out)) {
      CHECK_OK(keep_dead(directory, one));
      continue;
    }
    out.producers = ProducerState();
    producers_from = one.next_offset;
  }
  return {};
}

base::Status Recovery::add_sealed(const std::string& directory, const Found& found,
                                  model::Offset end, Recovered& out) {
  const int64_t now_ms = core_.clock.wall_ms();
  for (const log::SegmentName& name : found.segments) {
    if (name.base_offset >= end) continue;
    const auto path = log::segment_file(directory, name, log::kLogSuffix);
    TRY(const auto info, core_.disk.info(path));
    out.segments.push_back({.name = name, .end = info.size, .allocated = info.size,
                            .sealed = true, .ledger_loaded = false,
                            .unwritten_ms = std::max<int64_t>(0, now_ms - info.modified_ms),
                            .ledger = log::Ledger(name.base_offset)});
  }
  return {};
}

// The oldest files of a log are gone although its start never moved there: what was in them is
// refused, not forgotten, until DeleteRecords or retention gives it up.
void Recovery::add_missing(const std::string& directory, model::Offset from, Recovered& out) {
  const RecoveredSegment& oldest = out.segments.front();
  const model::Offset to = oldest.name.base_offset;
  if (from >= to) return;
  base::log_error("partition", "missing records directory={} offsets={}..{}: no file has them",
                  directory, from.value(), to.value() - 1);
  RecoveredSegment missing{.name = log::SegmentName(from),
                           .sealed = true,
                           .ledger_loaded = true,
                           .unwritten_ms = oldest.unwritten_ms,
                           .ledger = log::Ledger(from)};
  missing.ledger.append_quarantined(to, 0, 0);
  out.segments.insert(out.segments.begin(), std::move(missing));
  out.log_start = from;
  ++stats_.quarantined_groups;
}

base::Status Recovery::recover(Listed& listed, Recovered& out) {
  const std::string& directory = listed.directory;
  Found& found = listed.found;
  remove_left_over(directory, found);
  TRY(std::vector<Image> images, take_images(listed.key, directory, found));
  std::vector<Dead> dead = take_dead(found, images);
  const model::Offset first_image = images.front().base_offset;
  const model::Offset data_start =
      found.segments.empty() ? first_image
                             : std::min(found.segments.front().base_offset, first_image);
  out.log_start = std::max(data_start, found.marked());
  out.log_end = images.back().next_offset;
  out.start_markers = found.markers;
  out.last_pass = found.last_pass;
  model::Offset producers_from = data_start;
  CHECK_OK(read_producers(directory, dead, producers_from, out));
  for (const Dead& one : dead) {
    const auto info =
        core_.disk.info(log::segment_file(directory, one.name, log::kLogSuffix));
    if (one.has_file) out.dead.push_back({one.name, info ? info->size : 0});
  }
  CHECK_OK(add_sealed(directory, found, first_image, out));
  for (size_t i = 0; i < out.segments.size(); ++i) {
    const model::Offset next =
        i + 1 < out.segments.size() ? out.segments[i + 1].name.base_offset : first_image;
    if (producers_from < next) {
      CHECK_OK(feed_sealed(directory, out.segments[i], next, producers_from, out));
    }
  }
  for (size_t i = 0; i < images.size(); ++i) {
    RecoveredSegment segment{.name = log::SegmentName(images[i].base_offset),
                             .end = images[i].end(),
                             .ledger_loaded = true,
                             .ledger = log::Ledger(images[i].base_offset)};
    const bool active = i + 1 == images.size();
    CHECK_OK(rebuild(directory, images[i], segment, producers_from, out, active));
    out.segments.push_back(std::move(segment));
  }
  add_missing(directory, found.marked(), out);
  return {};
}

}  // namespace weir::partition
