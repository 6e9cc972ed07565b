#include "engine/log/append_buffer.h"

#include <algorithm>
#include <cstring>

#include "io/base/assert.h"
#include "io/base/streaming_copy.h"
#include "io/base/units.h"

namespace weir::log {
namespace {

// Appends of this size go to the segment as they are; smaller ones are copied once more.
constexpr size_t kStreamingMin = 32 * 1024;

}  // namespace

void unpin(Chunk& chunk) {
  ASSERT(chunk.pins > 0);
  if (--chunk.pins > 0) return;
  chunk.pool->release(chunk.buffer);
  delete &chunk;
}

void lease_chunk(Chunk& chunk) {
  ++chunk.pins;
  if (chunk.leases++ == 0) chunk.pool->count_lease(chunk.buffer.size);
}

void return_chunk(Chunk& chunk) {
  ASSERT(chunk.leases > 0);
  if (--chunk.leases == 0) chunk.pool->count_return(chunk.buffer.size);
  unpin(chunk);
}

AppendBuffer::~AppendBuffer() {
  for (Chunk* chunk : chunks_) unpin(*chunk);
}

void AppendBuffer::start_at(uint64_t position) {
  ASSERT(chunks_.empty() && position % io::kBlockSize == 0);
  begin_ = end_ = position;
}

Chunk& AppendBuffer::grow(size_t wanted) {
  auto* chunk = new Chunk;
  chunk->buffer = pool_.allocate(std::max(wanted, next_size_));
  chunk->pool = &pool_;
  chunk->begin = chunks_.empty() ? end_ : chunks_.back()->begin + chunks_.back()->buffer.size;
  chunk->pins = 1;
  chunks_.push_back(chunk);
  memory_bytes_ += chunk->buffer.size;
  next_size_ = std::min(BufferPool::kSizeMax, chunk->buffer.size * 2);
  return *chunk;
}

void AppendBuffer::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    Chunk* chunk = chunks_.empty() ? nullptr : chunks_.back();
    if (!chunk || chunk->used == chunk->buffer.size) chunk = &grow(bytes.size());
    const size_t count = std::min(bytes.size(), chunk->buffer.size - chunk->used);
    std::byte* const to = chunk->buffer.memory + chunk->used;
    if (count >= kStreamingMin) {
      base::copy_past_cache(to, bytes.first(count));
    } else {
      std::memcpy(to, bytes.data(), count);
    }
    chunk->used += count;
    end_ += count;
    bytes = bytes.subspan(count);
  }
}

uint64_t AppendBuffer::pad_to_block() {
  const uint64_t padded = base::round_up(end_, io::kBlockSize);
  if (padded > end_) {
    Chunk& last = *chunks_.back();
    std::memset(last.buffer.memory + (end_ - last.begin), 0, padded - end_);
  }
  return padded;
}

size_t AppendBuffer::chunk_index(uint64_t position) const {
  ASSERT(!chunks_.empty() && position >= chunks_.front()->begin);
  // Reads are mostly near the end.
  size_t index = chunks_.size() - 1;
  while (chunks_[index]->begin > position) --index;
  return index;
}

void AppendBuffer::slices(uint64_t from, uint64_t to, std::vector<io::Slice>& pieces) const {
  ASSERT(from >= begin_ && from <= to && to <= base::round_up(end_, io::kBlockSize));
  if (from == to) return;
  for (size_t i = chunk_index(from); from < to; ++i) {
    const Chunk& chunk = *chunks_[i];
    const uint64_t chunk_end = chunk.begin + chunk.buffer.size;
    const uint64_t stop = std::min(to, chunk_end);
    pieces.push_back({chunk.buffer.memory + (from - chunk.begin), stop - from});
    from = stop;
  }
}

void AppendBuffer::lease(uint64_t from, uint64_t to, std::vector<io::Slice>& pieces,
                         std::vector<Chunk*>& pinned) const {
  if (from == to) return;
  slices(from, to, pieces);
  for (size_t i = chunk_index(from); i < chunks_.size() && chunks_[i]->begin < to; ++i) {
    lease_chunk(*chunks_[i]);
    pinned.push_back(chunks_[i]);
  }
}

void AppendBuffer::copy(uint64_t from, std::span<std::byte> into) const {
  ASSERT(from >= begin_ && from + into.size() <= end_);
  for (size_t i = chunk_index(from); !into.empty(); ++i) {
    const Chunk& chunk = *chunks_[i];
    const size_t place = from - chunk.begin;
    const size_t count = std::min(into.size(), chunk.buffer.size - place);
    std::memcpy(into.data(), chunk.buffer.memory + place, count);
    into = into.subspan(count);
    from += count;
  }
}

void AppendBuffer::drop_before(uint64_t position) {
  while (!chunks_.empty()) {
    Chunk& chunk = *chunks_.front();
    const uint64_t chunk_end = chunk.begin + chunk.buffer.size;
    // The chunk that appends go to stays.
    if (chunk_end > position || chunk_end > end_) break;
    memory_bytes_ -= chunk.buffer.size;
    begin_ = chunk_end;
    chunks_.pop_front();
    unpin(chunk);
  }
  if (chunks_.empty()) {
    begin_ = end_;
    next_size_ = BufferPool::kSizes[0];
  }
}

void AppendBuffer::clear() {
  for (Chunk* chunk : chunks_) unpin(*chunk);
  chunks_.clear();
  memory_bytes_ = 0;
  begin_ = end_;
}

}  // namespace weir::log
