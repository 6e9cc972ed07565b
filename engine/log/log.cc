#include "engine/log/log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"

namespace weir::log {

uint64_t Log::size_bytes() const {
  uint64_t size = 0;
  for (const auto& segment : segments_) size += segment->end;
  return size;
}

void Log::add_segment(std::unique_ptr<Segment> segment) {
  ASSERT(segments_.empty() || segments_.back()->base_offset < segment->base_offset);
  segments_.push_back(std::move(segment));
}

void Log::set_offsets(model::Offset start, model::Offset end) {
  ASSERT(start <= end);
  start_offset_ = start;
  end_offset_ = end;
}

void Log::advance_start(model::Offset start) {
  ASSERT(start_offset_ <= start && start <= end_offset_);
  start_offset_ = start;
  // Epochs that ended before are forgotten, and the one it lies in begins there (KIP-101).
  while (epochs_.size() > 1 && epochs_[1].start_offset <= start) epochs_.erase(epochs_.begin());
  if (!epochs_.empty() && epochs_.front().start_offset < start) {
    epochs_.front().start_offset = start;
  }
}

std::optional<model::Offset> Log::dead_end() const {
  const bool dead = segments_.size() > 1 && segments_.front()->sealed &&
                    segments_[1]->base_offset <= start_offset_;
  if (!dead) return std::nullopt;
  return segments_[1]->base_offset;
}

std::unique_ptr<Segment> Log::take_dead() {
  ASSERT(dead_end());
  auto oldest = std::move(segments_.front());
  segments_.pop_front();
  return oldest;
}

std::vector<std::unique_ptr<Segment>> Log::replace(std::unique_ptr<Segment>& cleaned) {
  ASSERT(cleaned->sealed && cleaned->name.is_cleaned());
  std::vector<std::unique_ptr<Segment>> taken;
  const auto inside = [&](const auto& segment) {
    return cleaned->name.supersedes(segment->name);
  };
  const auto first = std::ranges::find_if(segments_, inside);
  if (first == segments_.end()) return taken;
  const auto last = std::find_if_not(first, segments_.end(), inside);
  ASSERT(last != segments_.end() && (*last)->base_offset == cleaned->name.next_offset);
  std::move(first, last, std::back_inserter(taken));
  *first = std::move(cleaned);
  segments_.erase(first + 1, last);
  ++replacements_;
  return taken;
}

model::Offset Log::clean_end() const {
  model::Offset end = start_offset_;
  for (const auto& segment : segments_) end = std::max(end, segment->name.clean_end);
  return end;
}

Segment& Log::roll(io::FileId file, uint64_t allocated) {
  // Never two segments with one base offset (CASES C38): an empty active segment is not rolled.
  ASSERT(segments_.empty() || segments_.back()->base_offset < end_offset_);
  auto segment = std::make_unique<Segment>(end_offset_, pool_);
  segment->file = file;
  segment->allocated = allocated;
  segment->gathered_offset = end_offset_;
  segments_.push_back(std::move(segment));
  return *segments_.back();
}

bool Log::fits_allocated(size_t size) const {
  return segments_.back()->end + size <= segments_.back()->allocated;
}

bool Log::fits_segment(size_t size, int64_t offsets, uint64_t segment_size_max) const {
  const Segment& last = *segments_.back();
  if (last.end == 0) return true;  // a batch larger than a segment gets one of its own
  if (last.full) return false;
  const int64_t last_delta = end_offset_ + offsets - 1 - last.base_offset;
  return last.end + size <= segment_size_max && last_delta <= kSegmentSpanMax;
}

Placed Log::append(std::span<const std::byte> batch, int32_t leader_epoch) {
  Segment& segment = active();
  ASSERT(fits_allocated(batch.size()) && !segment.sealed);
  // The two fields outside Kafka's own checksum; the rest is copied as it was sent.
  std::array<std::byte, kBatchCrcStart> front;
  std::memcpy(front.data(), batch.data(), front.size());
  set_base_offset(front, end_offset_);
  set_leader_epoch(front, leader_epoch);
  segment.buffer.append(front);
  segment.buffer.append(batch.subspan(kBatchCrcStart));

  const BatchView sent(batch);
  const uint32_t checksum = base::crc32c_combine(base::crc32c(front), sent.crc(),
                                                 batch.size() - kBatchCrcStart);
  segment.gather_checksum = segment.gathered == segment.end
                                ? checksum
                                : base::crc32c_combine(segment.gather_checksum, checksum,
                                                       batch.size());
  note_epoch(leader_epoch, end_offset_);
  std::array<std::byte, kBatchHeaderSize> header;
  std::memcpy(header.data(), batch.data(), header.size());
  std::memcpy(header.data(), front.data(), front.size());
  const BatchView placed(header);
  segment.ledger.append(placed, checksum);
  segment.end += batch.size();
  ASSERT(segment.end == segment.buffer.end());
  const model::Offset base = end_offset_;
  end_offset_ = placed.next_offset();
  return {base, end_offset_};
}

Segment* Log::find_segment(model::Offset offset) {
  if (segments_.empty() || offset < segments_.front()->base_offset || offset >= end_offset_) {
    return nullptr;
  }
  const auto it = std::ranges::upper_bound(
      segments_, offset, {}, [](const auto& segment) { return segment->base_offset; });
  const auto found = std::prev(it);
  const bool at_edge = (*found)->base_offset == offset && found != segments_.begin();
  if (at_edge && model::planted(model::Bug::index_off_by_one_at_segment_edge)) {
    return std::prev(found)->get();
  }
  return found->get();
}

uint64_t Log::visible_end(const Segment& segment) { return segment.committed; }

std::optional<ReadPlace> Log::find(model::Offset offset) {
  Segment* segment = find_segment(offset);
  if (!segment || !segment->ledger_loaded) {
    return segment ? std::optional(ReadPlace{.segment = segment, .limit = segment->end})
                   : std::nullopt;
  }
  ReadPlace place{.segment = segment, .limit = visible_end(*segment)};
  place.group = segment->ledger.find(offset);
  if (place.group == segment->ledger.groups().size()) return std::nullopt;
  place.in_memory = segment->holds(segment->ledger.groups()[place.group].position);
  return place;
}

uint64_t Log::bytes_between(model::Offset from, model::Offset to) {
  uint64_t size = 0;
  for (const auto& segment : segments_) {
    const model::Offset next = segment->ledger_loaded ? segment->ledger.next_offset() : to;
    if (next <= from || segment->base_offset >= to) continue;
    if (!segment->ledger_loaded) {
      size += segment->end;
      continue;
    }
    const auto& groups = segment->ledger.groups();
    const size_t first = segment->ledger.find(from);
    if (first == groups.size()) continue;
    // Inside one group offsets are taken as evenly spread.
    const Group& group = groups[first];
    const auto count = static_cast<uint64_t>(group.next_offset - group.base_offset);
    const auto skipped = static_cast<uint64_t>(
        std::max<int64_t>(0, from - group.base_offset));
    const uint64_t begin = group.position + group.size * skipped / count;
    size += segment->committed > begin ? segment->committed - begin : 1;
  }
  return size;
}

model::Offset Log::offset_after_damage(model::Offset offset) {
  const auto place = find(offset);
  if (!place || !place->segment->ledger_loaded) return end_offset_;
  return place->segment->ledger.groups()[place->group].next_offset;
}

int32_t Log::epoch_at(model::Offset offset) const {
  const auto next = std::ranges::upper_bound(epochs_, offset, {}, &EpochStart::start_offset);
  return next == epochs_.begin() ? -1 : std::prev(next)->epoch;
}

void Log::note_epoch(int32_t epoch, model::Offset start) {
  if (epochs_.empty() || epochs_.back().epoch < epoch) epochs_.push_back({epoch, start});
}

std::pair<int32_t, model::Offset> Log::epoch_end(int32_t epoch) const {
  if (epochs_.empty() || epoch < 0 || epoch > epochs_.back().epoch) return {-1, model::kNoOffset};
  if (epoch == epochs_.back().epoch) return {epoch, end_offset_};
  const auto next = std::ranges::upper_bound(epochs_, epoch, {}, &EpochStart::epoch);
  if (next == epochs_.begin()) return {epoch, next->start_offset};
  return {std::prev(next)->epoch, next->start_offset};
}

}  // namespace weir::log
