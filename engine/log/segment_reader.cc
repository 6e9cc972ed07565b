#include "engine/log/segment_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/log/file_names.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::log {
namespace {

using base::operator""_MiB;
using model::ErrorCode;

// A cold read takes whole groups up to this much; one group always, whatever its size.
constexpr uint64_t kWindowMax = 1_MiB;

using Header = std::array<std::byte, kBatchHeaderSize>;

}  // namespace

SegmentReader::SegmentReader(io::CoreIo& core) : core_(core), loader_(core.disk, core.loop) {
  ledger_op_.bind<&SegmentReader::on_ledger>(*this);
  op_.bind<&SegmentReader::on_step>(*this);
  read_.bind<&SegmentReader::on_read>(*this);
}

SegmentReader::~SegmentReader() {
  if (window_) return_chunk(*window_);
}

bool SegmentReader::start(Log& log, const Wish& wish, Lease& lease, io::Op& done) {
  ASSERT(stage_ == Stage::idle);
  log_ = &log;
  wish_ = wish;
  lease_ = &lease;
  done_ = &done;
  size_ = 0;
  next_offset_ = wish.offset;
  error_ = ErrorCode::none;
  const auto place = log.find(wish.offset);
  if (!place) return true;
  place_ = *place;
  if (!place_.segment->ledger_loaded) {
    ++place_.segment->users;
    stage_ = Stage::loading_ledger;
    loader_.start(log.directory(), *place_.segment, place_.segment->end, true, ledger_op_);
    return false;
  }
  if (place_.segment->ledger.groups()[place_.group].flags & Group::kQuarantined) {
    error_ = ErrorCode::kafka_storage_error;
    return true;
  }
  if (place_.in_memory) return from_memory(place_);
  ++place_.segment->users;
  from_file();
  return false;
}

void SegmentReader::on_ledger(io::Op& op) {
  if (op.result() < 0) return finish(ErrorCode::kafka_storage_error);
  // Not looked up anew: meanwhile the log may have begun to start behind it.
  const Ledger& ledger = place_.segment->ledger;
  place_.group = ledger.find(wish_.offset);
  if (place_.group == ledger.groups().size()) return finish(ErrorCode::none);
  from_file();
}

// Walks from the start of the first group to the batch with the wished offset, then as far as the
// limits allow, jumping over groups that fit whole.
template <class HeaderAt>
SegmentReader::Range SegmentReader::choose(const ReadPlace& place,
                                           const HeaderAt& header_at) const {
  const auto& groups = place.segment->ledger.groups();
  size_t group = place.group;
  uint64_t from = groups[group].position;
  Header header;
  uint64_t batch_end = 0;
  const Range nothing{from, from, wish_.offset};
  model::Offset next_offset;
  while (true) {
    if (from >= place.limit) return nothing;
    header_at(from, header);
    const BatchView batch(header);
    batch_end = from + batch.size();
    next_offset = batch.next_offset();
    if (next_offset > wish_.offset) break;
    from = batch_end;
  }
  if (batch_end > place.limit || BatchView(header).base_offset() >= wish_.end) return nothing;
  const uint64_t stop = std::min(place.limit, from + wish_.size_max);
  if (batch_end > stop) {
    return wish_.first_batch_whole ? Range{from, batch_end, next_offset} : nothing;
  }
  uint64_t to = batch_end;
  for (; group < groups.size() && to < stop; ++group) {
    if (groups[group].flags & Group::kQuarantined) break;
    if (groups[group].end() <= stop && groups[group].next_offset <= wish_.end) {
      to = std::max(to, groups[group].end());
      next_offset = std::max(next_offset, groups[group].next_offset);
      continue;
    }
    while (to < stop && next_offset < wish_.end) {
      header_at(to, header);
      const BatchView batch(header);
      if (to + batch.size() > stop) break;
      to += batch.size();
      next_offset = batch.next_offset();
    }
    break;
  }
  return {from, to, next_offset};
}

bool SegmentReader::from_memory(const ReadPlace& place) {
  const Segment& segment = *place.segment;
  const Range range = choose(place, [&](uint64_t at, Header& header) {
    segment.buffer.copy(at, header);
  });
  segment.buffer.lease(range.from, range.to, lease_->pieces, lease_->pinned);
  size_ = range.to - range.from;
  next_offset_ = range.next_offset;
  return true;
}

void SegmentReader::from_file() {
  const Segment& segment = *place_.segment;
  const auto& groups = segment.ledger.groups();
  const Group& first = groups[place_.group];
  if (first.flags & Group::kQuarantined) return finish(ErrorCode::kafka_storage_error);
  // Below `written` the file has everything; a group in front of the buffer lies below it whole.
  const uint64_t readable = segment.sealed ? segment.end : segment.written;
  ASSERT(first.end() <= readable, "group of {} to {} is not in the file, written {}",
         first.position, first.end(), readable);
  window_end_ = first.end();
  const uint64_t wanted = std::min(wish_.size_max + first.size, kWindowMax);
  for (size_t i = place_.group + 1; i < groups.size(); ++i) {
    if (groups[i].end() > readable || groups[i].end() - first.position > wanted ||
        (groups[i].flags & Group::kQuarantined)) {
      break;
    }
    window_end_ = groups[i].end();
  }
  const uint64_t begin = base::round_down(first.position, io::kBlockSize);
  window_ = new Chunk;
  window_->begin = begin;
  window_->buffer =
      log_->pool().allocate_whole(base::round_up(window_end_, io::kBlockSize) - begin);
  window_->pool = &log_->pool();
  lease_chunk(*window_);

  // A full segment is about to be sealed, which closes its file; the active one waits for its
  // readers.
  file_is_mine_ = segment.file == io::kNoFile || &segment != &log_->active();
  narrowed_ = false;
  if (!file_is_mine_) {
    file_ = segment.file;
    ++place_.segment->file_readers;
    return read_window();
  }
  stage_ = Stage::opening;
  path_ = segment_file(log_->directory(), segment.name, kLogSuffix);
  core_.disk.open(op_, path_.c_str(), {.direct = true, .writable = false});
}

void SegmentReader::on_step(io::Op& op) {
  if (stage_ == Stage::closing) return finish(error_);
  ASSERT(stage_ == Stage::opening);
  if (op.result() < 0) {
    base::log_error("log", "cannot open segment file={} error={}", path_, -op.result());
    return finish(ErrorCode::kafka_storage_error);
  }
  file_ = io::FileId(op.result());
  read_window();
}

void SegmentReader::read_window() {
  stage_ = Stage::reading;
  const uint64_t size = base::round_up(window_end_, io::kBlockSize) - window_->begin;
  read_.start(core_.disk, file_, {window_->buffer.memory, size}, window_->begin);
}

void SegmentReader::on_read(io::WholeRead& read) {
  window_->used = read.done();
  const bool failed = read.error() != 0 || window_->begin + window_->used < window_end_;
  if (failed && !narrowed_) {
    // A bad block costs its own group, and an error that passes costs nothing.
    narrowed_ = true;
    window_end_ = place_.segment->ledger.groups()[place_.group].end();
    return read_window();
  }
  if (failed) {
    base::log_error("log", "cannot read segment directory={} segment={} position={} error={}",
                    log_->directory(), place_.segment->base_offset.value(), window_->begin,
                    read.error());
    error_ = ErrorCode::kafka_storage_error;
  } else {
    take_window();
  }
  if (!file_is_mine_) {
    --place_.segment->file_readers;
    return finish(error_);
  }
  stage_ = Stage::closing;
  core_.disk.close(op_, std::exchange(file_, io::kNoFile));
}

// Checks the groups of the window; false when the first is damaged, else how far it is sound.
bool SegmentReader::window_sound(uint64_t& sound_end) {
  const auto& groups = place_.segment->ledger.groups();
  sound_end = groups[place_.group].position;
  for (size_t i = place_.group; i < groups.size() && groups[i].end() <= window_end_; ++i) {
    const std::span<const std::byte> bytes(
        window_->buffer.memory + (groups[i].position - window_->begin), groups[i].size);
    if (base::crc32c(bytes) != groups[i].checksum) {
      base::log_error(
          "log", "damaged group directory={} segment={} position={} size={} offsets={}..{}",
          log_->directory(), place_.segment->base_offset.value(), groups[i].position,
          groups[i].size, groups[i].base_offset.value(), groups[i].next_offset.value() - 1);
      break;
    }
    sound_end = groups[i].end();
  }
  return sound_end > groups[place_.group].position;
}

void SegmentReader::take_window() {
  uint64_t sound_end = 0;
  if (!window_sound(sound_end)) {
    error_ = ErrorCode::kafka_storage_error;
    return;
  }
  place_.limit = std::min(place_.limit, sound_end);
  const Range range = choose(place_, [&](uint64_t at, Header& header) {
    std::memcpy(header.data(), window_->buffer.memory + (at - window_->begin), header.size());
  });
  size_ = range.to - range.from;
  next_offset_ = range.next_offset;
  if (size_ == 0) return;
  lease_->pieces.push_back({window_->buffer.memory + (range.from - window_->begin), size_});
  lease_->pinned.push_back(std::exchange(window_, nullptr));
}

void SegmentReader::finish(model::ErrorCode error) {
  error_ = error;
  stage_ = Stage::idle;
  --place_.segment->users;
  if (window_) return_chunk(*std::exchange(window_, nullptr));
  core_.loop.post(*done_, 0);
}

}  // namespace weir::log
