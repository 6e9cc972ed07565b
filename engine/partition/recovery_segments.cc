// The second half of Recovery: putting segments together from file, ledger and image.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/log/file_names.h"
#include "engine/log/segment_files.h"
#include "engine/model/planted.h"
#include "engine/partition/recovery.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::partition {
namespace {

struct Done {
  Done() {
    op.bind<&Done::on_op>(*this);
    write.bind<&Done::on_write>(*this);
    read.bind<&Done::on_read>(*this);
  }
  void on_op(io::Op&) {}
  void on_write(io::WholeWrite&) {}
  void on_read(io::WholeRead&) {}
  io::Op op;
  io::WholeRead read;
  io::WholeWrite write;
};

void note_epoch(std::vector<log::EpochStart>& epochs, int32_t epoch, model::Offset start) {
  if (epochs.empty() || epochs.back().epoch < epoch) epochs.push_back({epoch, start});
}

}  // namespace

void Recovery::take_batch(std::span<const std::byte> bytes, model::Offset producers_from,
                          Recovered& out) {
  const log::BatchView batch(bytes);
  note_epoch(out.epochs, batch.leader_epoch(), batch.base_offset());
  if (batch.has_producer_id() && batch.base_offset() >= producers_from &&
      !model::planted(model::Bug::dedup_window_not_restored)) {
    out.producers.append(batch, batch.base_offset(), core_.clock.wall_ms());
  }
}

// Sealed segments matter only where the snapshot does not reach: for producers and epochs.
base::Status Recovery::feed_sealed(const std::string& directory, RecoveredSegment& segment,
                                   model::Offset next_offset, model::Offset producers_from,
                                   Recovered& out) {
  const auto path = log::segment_file(directory, segment.name, log::kLogSuffix);
  TRY(const io::FileId file, open(path, false));
  CHECK_OK(load_ledger(directory, segment, segment.end));
  Image image{.base_offset = segment.name.base_offset,
              .tail_begin = segment.end,
              .next_offset = next_offset};
  log::SegmentWalker walker(core_.loop, core_.disk, file, segment.end, {});
  walk(walker, image, segment, producers_from, out, segment.end);
  if (segment.ledger.next_offset() < next_offset) {
    base::log_error("partition", "missing records directory={} segment={} offsets={}..{}",
                    directory, segment.name.base_offset.value(),
                    segment.ledger.next_offset().value(), next_offset.value() - 1);
    segment.ledger.append_quarantined(next_offset, 0, 0);
    ++stats_.quarantined_groups;
  }
  segment.ledger_loaded = true;
  close(file);
  return {};
}

base::Status Recovery::rebuild(const std::string& directory, Image& image,
                               RecoveredSegment& segment, model::Offset producers_from,
                               Recovered& out, bool active) {
  const auto path = log::segment_file(directory, segment.name, log::kLogSuffix);
  TRY(const io::FileId file, open(path, image.tail_begin == 0));
  fill_gaps(file, image);
  CHECK_OK(load_ledger(directory, segment, image.end()));
  const uint64_t stop = active ? base::round_down(image.end(), io::kBlockSize) : image.tail_begin;
  log::SegmentWalker walker(core_.loop, core_.disk, file, image.tail_begin, image.tail);
  walk(walker, image, segment, producers_from, out, stop);
  stats_.scanned_bytes += walker.bytes_read();
  base::Status status{};
  if (active) {
    // The buffer begins with the batch that lies across `written`, so that its group is in memory
    // whole.
    const uint64_t kept =
        base::round_down(segment.ledger.boundary_at_or_before(stop), io::kBlockSize);
    out.tail_begin = image.end() == stop ? stop : kept;
    // A group must not go on behind what is in the file only.
    if (image.end() == stop) segment.ledger.close_group();
    out.tail.resize(image.end() - out.tail_begin);
    if (!walker.copy(out.tail_begin, out.tail)) {
      status = base::error(EIO, fmt::format("cannot read the end of {}", path));
    }
    if (status) status = move_to_segment(file, image, stop);
    segment.first_timestamp = std::min(segment.first_timestamp, core_.clock.wall_ms());
    out.written = stop;
    const auto info = core_.disk.info(path);
    segment.allocated = info ? base::round_down(info->size, io::kBlockSize) : 0;
    segment.allocated = std::max(segment.allocated, base::round_up(image.end(), io::kBlockSize));
    close(file);
    if (status) status = keep_verdict(directory, segment.ledger);
  } else {
    status = seal(directory, image, segment, file);
  }
  return status;
}

// What is damaged is known from a journal that will be gone: the ledger must say it from now on, or
// a later start would not find what lies behind it.
base::Status Recovery::keep_verdict(const std::string& directory, log::Ledger& ledger) {
  const auto& groups = ledger.groups();
  size_t end = groups.size();
  while (end > ledger.written() && !(groups[end - 1].flags & log::Group::kQuarantined)) --end;
  if (end == ledger.written()) return {};
  const uint64_t position = ledger.written() == 0 ? 0 : ledger.file_end();
  size_t count = 0;
  const auto bytes = ledger.encode_unwritten(true, groups[end - 1].end(), count);
  const auto path =
      log::segment_file(directory, ledger.segment_base_offset(), log::kLedgerSuffix);
  Done done;
  core_.disk.open(done.op, path.c_str(), {.create = true});
  int error = -std::min(wait(done.op), 0);
  if (error == 0) {
    const io::FileId file(done.op.result());
    done.write.pieces().assign(1, {bytes.data(), bytes.size()});
    done.write.start(core_.disk, file, position, io::Durability::on_completion);
    wait(done.write.op());
    error = done.write.error();
    close(file);
  }
  if (error != 0) {
    return base::error(error, fmt::format("cannot write {}: {}", path, std::strerror(error)));
  }
  ledger.mark_written(count);
  return sync_directory(directory);
}

// What the journal lost may have reached the segment before: then it is not lost, and must not be
// overwritten. Whether it did, only a checksum can say: a file that had a life before this one may
// hold sound batches of another log there, with the very offsets that are missing (F11).
void Recovery::fill_gaps(io::FileId file, Image& image) {
  for (const Gap& gap : image.gaps) {
    if (!gap.checksum) continue;
    const uint64_t begin = base::round_down(gap.begin, io::kBlockSize);
    const size_t size = base::round_up(gap.end, io::kBlockSize) - begin;
    std::byte* const bytes = base::allocate_aligned(io::kBlockSize, size);
    std::memset(bytes, 0, size);
    Done done;
    done.read.start(core_.disk, file, {bytes, size}, begin);
    wait(done.read.op());
    const std::span<const std::byte> lost(bytes + (gap.begin - begin), gap.end - gap.begin);
    if (done.read.error() == 0 && base::crc32c(lost) == *gap.checksum) {
      std::ranges::copy(lost, image.tail.begin() +
                                  static_cast<std::ptrdiff_t>(gap.begin - image.tail_begin));
    }
    std::free(bytes);
  }
}

// From the oldest batch that ledger or producers lack, to the end.
void Recovery::walk(log::SegmentWalker& walker, const Image& image, RecoveredSegment& segment,
                    model::Offset producers_from, Recovered& out, uint64_t written) {
  log::Ledger& ledger = segment.ledger;
  const uint64_t known_end = ledger.end();
  // Of a group that is written to the ledger: close enough to that of its first batch.
  if (known_end > 0) segment.first_timestamp = ledger.groups().front().max_timestamp;
  for (const log::Group& group : ledger.groups()) {
    note_epoch(out.epochs, group.leader_epoch, group.base_offset);
  }
  for (size_t i = ledger.find(producers_from); i < ledger.groups().size(); ++i) {
    const log::Group group = ledger.groups()[i];
    if (!(group.flags & log::Group::kProducers)) continue;
    walker.seek(group.position);
    while (walker.position() < group.end()) {
      const auto bytes = walker.next();
      if (!bytes) break;
      take_batch(*bytes, producers_from, out);
    }
  }
  walker.seek(known_end);
  while (walker.position() < walker.end()) {
    const uint64_t position = walker.position();
    const auto bytes = walker.next();
    if (!bytes || !log::follows(segment.name, ledger, log::BatchView(*bytes))) {
      walker.seek(position);
      if (!step_over_damage(walker, image, segment)) return;
      continue;
    }
    const bool crosses = position <= written && position + bytes->size() > written;
    if (crosses) ledger.close_group();
    if (position == 0) segment.first_timestamp = log::BatchView(*bytes).max_timestamp();
    ledger.append(log::BatchView(*bytes), base::crc32c(*bytes));
    take_batch(*bytes, producers_from, out);
  }
}

// Quarantines from here to the next place that is known to begin a batch; false when there is none
// and the rest of the segment is given up.
bool Recovery::step_over_damage(log::SegmentWalker& walker, const Image& image,
                                RecoveredSegment& segment) {
  const uint64_t from = walker.position();
  uint64_t to = image.end();
  model::Offset next = image.next_offset;
  for (const Gap& gap : image.gaps) {
    if (gap.end > from && gap.end < to && gap.next_offset > segment.ledger.next_offset()) {
      to = gap.end;
      next = gap.next_offset;
      break;
    }
  }
  for (const auto& [position, offset] : image.starts) {
    if (position > from && position < to && offset > segment.ledger.next_offset()) {
      to = position;
      next = offset;
      break;
    }
  }
  base::log_error("partition",
                  "damaged range quarantined segment={} positions={}..{} offsets={}..{}",
                  segment.name.base_offset.value(), from, to, segment.ledger.next_offset().value(),
                  next.value() - 1);
  ++stats_.quarantined_groups;
  if (next > segment.ledger.next_offset()) {
    segment.ledger.append_quarantined(next, to - from, 0);
  }
  walker.seek(to);
  return to < image.end();
}

base::Status Recovery::move_to_segment(io::FileId file, Image& image, uint64_t stop) {
  if (stop <= image.tail_begin) return {};
  const size_t size = stop - image.tail_begin;
  std::byte* const bytes = base::allocate_aligned(io::kBlockSize, size);
  std::memcpy(bytes, image.tail.data(), size);
  Done done;
  done.write.pieces().assign(1, {bytes, size});
  done.write.start(core_.disk, file, image.tail_begin, io::Durability::on_completion);
  wait(done.write.op());
  std::free(bytes);
  stats_.moved_bytes += size;
  if (done.write.error() != 0) {
    return base::error(done.write.error(),
                       fmt::format("cannot move journal bytes to a segment: {}",
                                   std::strerror(done.write.error())));
  }
  return {};
}

base::Status Recovery::seal(const std::string& directory, const Image& image,
                            RecoveredSegment& segment, io::FileId file) {
  log::BufferPool pool(0);
  log::Segment whole(segment.name, pool);
  whole.file = file;
  whole.end = whole.gathered = whole.committed = image.end();
  whole.written = whole.submitted = image.tail_begin;
  whole.buffer.start_at(image.tail_begin);
  whole.buffer.append(image.tail);
  whole.ledger = std::move(segment.ledger);
  log::SegmentSealer sealer(core_);
  Done done;
  sealer.start(directory, whole, done.op);
  while (sealer.busy() && sealer.pending().armed()) core_.loop.run_until(sealer.pending());
  // Only in a simulated world that died is it busy with nothing to wait for.
  if (sealer.busy()) return base::error(EIO, "the machine stopped while a segment was sealed");
  core_.loop.run_until(done.op);
  segment.ledger = std::move(whole.ledger);
  segment.sealed = true;
  segment.allocated = segment.end;
  if (done.op.result() < 0) {
    return base::error(-done.op.result(), fmt::format("cannot seal a segment in {}: {}", directory,
                                                      std::strerror(-done.op.result())));
  }
  return {};
}

}  // namespace weir::partition
