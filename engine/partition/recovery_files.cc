// The part of Recovery that deals with a partition's files: which there are, which go, and what the
// small ones say.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "engine/log/file_names.h"
#include "engine/model/planted.h"
#include "engine/partition/recovery.h"
#include "io/base/logging.h"
#include "io/waiter.h"

namespace weir::partition {
namespace {

constexpr size_t kSnapshotReadMax = size_t{256} << 20;
constexpr size_t kSyncsAtOnce = 64;

std::unexpected<base::Error> cannot_sync(const std::string& directory, int error) {
  return base::error(error, fmt::format("cannot sync directory {}: {}", directory,
                                        std::strerror(error)));
}

// A file that is there but for the want of a descriptor is not missing: the start fails, and loses
// nothing.
base::Status enough_descriptors(int32_t opened, const std::string& path) {
  if (opened != -EMFILE && opened != -ENFILE) return {};
  return base::error(-opened, fmt::format("cannot open {}: {}", path, std::strerror(-opened)));
}

}  // namespace

base::Result<Recovery::Found> Recovery::list(const std::string& directory) {
  TRY(const auto entries, core_.disk.list(directory));
  Found found;
  std::vector<log::SegmentName> ledgers;
  for (const auto& entry : entries) {
    if (const auto name = log::parse_segment_name(entry.name, log::kLogSuffix)) {
      found.segments.push_back(*name);
    } else if (const auto start = log::parse_segment_file(entry.name, log::kStartSuffix)) {
      found.markers.push_back(*start);
    } else if (const auto ledger = log::parse_segment_name(entry.name, log::kLedgerSuffix)) {
      if (ledger->is_cleaned()) ledgers.push_back(*ledger);
    } else if (const auto part = log::parse_segment_name(entry.name, log::kCleaningSuffix)) {
      found.debris.push_back(entry.name);
      found.last_pass = std::max(found.last_pass, part->pass);
    }
  }
  for (const auto* names : {&found.segments, &ledgers}) {
    for (const auto& name : *names) found.last_pass = std::max(found.last_pass, name.pass);
  }
  std::ranges::sort(found.markers);
  // The ledger of a cleaned segment is there first.
  for (const log::SegmentName& ledger : ledgers) {
    if (std::ranges::find(found.segments, ledger) != found.segments.end()) continue;
    found.debris.push_back(log::segment_file(directory, ledger, log::kLedgerSuffix)
                               .substr(directory.size() + 1));
  }
  found.superseded = log::take_superseded(found.segments);
  return found;
}

model::Offset Recovery::Found::cleaned_end() const {
  model::Offset end{0};
  for (const log::SegmentName& name : segments) end = std::max(end, name.next_offset);
  return end;
}

// Names that were superseded are so on the disk, too: the directory has been synced.
void Recovery::remove_left_over(const std::string& directory, const Found& found) {
  for (const log::SegmentName& name : found.superseded) remove_segment(directory, name);
  for (const std::string& name : found.debris) remove_file(fmt::format("{}/{}", directory, name));
}

// A ledger speaks of acknowledged records only: where one does, it is the journal that is too old.
base::Status Recovery::remove_behind(const std::string& directory, Found& found,
                                     const Image& newest) {
  const auto is_behind = [&](const log::SegmentName& name) {
    return name.base_offset > newest.base_offset && name.base_offset != newest.next_offset;
  };
  for (const log::SegmentName& name : found.segments) {
    const bool taken_for_empty = name.base_offset == newest.base_offset && newest.end() == 0;
    if (!is_behind(name) && !taken_for_empty) continue;
    RecoveredSegment segment{.name = name, .ledger = log::Ledger(name.base_offset)};
    CHECK_OK(load_ledger(directory, segment, UINT64_MAX));
    if (segment.ledger.groups().empty()) continue;
    return base::error(0, fmt::format("{} has offsets {} to {}, but the journal ends at {}: files "
                                      "of different ages were mixed. Restore all of them from one "
                                      "copy",
                                      log::segment_file(directory, name, log::kLogSuffix),
                                      name.base_offset.value(),
                                      segment.ledger.next_offset().value() - 1,
                                      newest.next_offset.value()));
  }
  std::erase_if(found.segments, [&](const log::SegmentName& name) {
    if (!is_behind(name)) return false;
    remove_segment(directory, name);
    return true;
  });
  return {};
}

// A sealed segment has at least one batch. An empty file was made on a full disk, which refused it
// its blocks, and the power cut undid its removal.
void Recovery::remove_empty(const std::string& directory, std::vector<log::SegmentName>& segments,
                            model::Offset sealed_end) {
  std::erase_if(segments, [&](const log::SegmentName& name) {
    if (name.base_offset >= sealed_end) return false;
    const auto info = core_.disk.info(log::segment_file(directory, name, log::kLogSuffix));
    if (!info || info->size > 0) return false;
    remove_segment(directory, name);
    return true;
  });
}

base::Status Recovery::sync_directory(const std::string& directory) {
  io::Waiter waiter;
  core_.disk.sync_directory(waiter.op, directory.c_str());
  const int32_t result = wait(waiter.op);
  if (result >= 0) return {};
  return cannot_sync(directory, -result);
}

// Thousands of them, one after another, would take a flush of the device each.
base::Status Recovery::sync_directories(const std::vector<Listed>& all) {
  std::array<io::Waiter, kSyncsAtOnce> waiters;
  base::Status status{};
  for (size_t first = 0; first < all.size() && status; first += kSyncsAtOnce) {
    const auto some = std::span(all).subspan(first, std::min(kSyncsAtOnce, all.size() - first));
    for (size_t i = 0; i < some.size(); ++i) {
      core_.disk.sync_directory(waiters[i].op, some[i].directory.c_str());
    }
    for (size_t i = 0; i < some.size(); ++i) {
      const int32_t result = wait(waiters[i].op);
      if (result < 0 && status) status = cannot_sync(some[i].directory, -result);
    }
  }
  return status;
}

void Recovery::remove_file(const std::string& path) {
  io::Waiter waiter;
  core_.disk.remove(waiter.op, path.c_str());
  wait(waiter.op);
}

void Recovery::remove_segment(const std::string& directory, const log::SegmentName& name) {
  for (const auto suffix : {log::kLogSuffix, log::kLedgerSuffix}) {
    remove_file(log::segment_file(directory, name, suffix));
  }
}

// Moves `producers_from`, the oldest offset whose batches are there, to where the snapshot ends.
base::Status Recovery::read_snapshot(const std::string& directory, Recovered& out,
                                     model::Offset& producers_from) {
  const auto path = fmt::format("{}/{}", directory, log::kProducerSnapshotName);
  const auto info = core_.disk.info(path);
  if (!info || info->size > kSnapshotReadMax) return {};
  io::Waiter waiter;
  core_.disk.open(waiter.op, path.c_str(), {.writable = false});
  CHECK_OK(enough_descriptors(wait(waiter.op), path));
  if (waiter.op.result() < 0) return {};
  const io::FileId file(waiter.op.result());
  std::vector<std::byte> bytes(info->size);
  waiter.read.start(core_.disk, file, bytes, 0, io::WholeRead::Access::buffered);
  wait(waiter.read.op());
  close(file);
  ProducerState producers;
  std::vector<log::EpochStart> epochs;
  model::Offset next_offset;
  if (waiter.read.error() != 0 ||
      !producers.decode(std::span(bytes).first(waiter.read.done()), next_offset, epochs)) {
    base::log_warning("partition", "snapshot not usable, rebuilt from batches file={}", path);
    return {};
  }
  // Ahead of the log: it speaks of batches that were never acknowledged (L8). Behind it: what came
  // between is not known, and half a history refuses what comes next.
  for (const log::EpochStart& epoch : epochs) note_incarnation(epoch.epoch, path);
  const bool ahead = next_offset > out.log_end &&
                     !model::planted(model::Bug::snapshot_newer_than_log);
  if (ahead || next_offset < producers_from) return {};
  out.producers = std::move(producers);
  out.epochs = std::move(epochs);
  producers_from = next_offset;
  return {};
}

void Recovery::note_incarnation(int32_t incarnation, const std::string& file) {
  if (incarnation <= newest_incarnation_) return;
  newest_incarnation_ = incarnation;
  newest_file_ = file;
}

base::Status Recovery::check_age(model::Incarnation known) const {
  if (newest_incarnation_ <= known.value()) return {};
  return base::error(0, fmt::format("{} was written in start {} of this directory, but meta.json "
                                    "knows of {}: files of different ages were mixed. Restore all "
                                    "of them from one copy",
                                    newest_file_, newest_incarnation_, known.value()));
}

base::Status Recovery::load_ledger(const std::string& directory, RecoveredSegment& segment,
                                   uint64_t valid_end) {
  const auto path = log::segment_file(directory, segment.name, log::kLedgerSuffix);
  const auto info = core_.disk.info(path);
  if (!info) return {};
  io::Waiter waiter;
  core_.disk.open(waiter.op, path.c_str(), {.writable = false});
  CHECK_OK(enough_descriptors(wait(waiter.op), path));
  if (waiter.op.result() < 0) return {};
  const io::FileId file(waiter.op.result());
  std::vector<std::byte> bytes(info->size);
  waiter.read.start(core_.disk, file, bytes, 0, io::WholeRead::Access::buffered);
  wait(waiter.read.op());
  close(file);
  if (waiter.read.error() != 0) return {};
  const auto sound = std::span<const std::byte>(bytes).first(waiter.read.done());
  if (!log::Ledger::header_sound(sound, segment.name.base_offset)) return {};
  for (size_t at = log::kLedgerEntrySize; at + log::kLedgerEntrySize <= sound.size();
       at += log::kLedgerEntrySize) {
    const auto group = log::Ledger::decode_entry(sound.subspan(at, log::kLedgerEntrySize));
    if (!group || group->end() > valid_end || !segment.ledger.restore(*group)) break;
    note_incarnation(group->leader_epoch, path);
  }
  return {};
}

}  // namespace weir::partition
