#pragma once
// AppendBuffer: the tail of one segment in memory, in chunks that begin on block boundaries of the
// file. It is the source of journal payloads and segment writes, and serves tail reads without a
// copy.
//
// Bytes below a position that a write in flight covers never change; appends go behind them. A
// chunk that a reader has leased or a write uses lives on after it was dropped here, until the last
// pin goes. Owned by the partition's home core.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/log/buffer_pool.h"
#include "io/base/fifo.h"
#include "io/disk.h"

namespace weir::log {

// Memory of some file positions, counted by plain integers of its core.
struct Chunk {
  uint64_t begin = 0;  // file position of the first byte
  size_t used = 0;
  BufferPool::Buffer buffer;
  BufferPool* pool = nullptr;
  uint32_t pins = 0;    // AppendBuffer's own and one per lease
  uint32_t leases = 0;  // of these, readers'
};
void unpin(Chunk& chunk);  // frees at zero
// The same for a reader, who is counted in the pool.
void lease_chunk(Chunk& chunk);
void return_chunk(Chunk& chunk);

class AppendBuffer {
 public:
  explicit AppendBuffer(BufferPool& pool) : pool_(pool) {}
  ~AppendBuffer();
  AppendBuffer(const AppendBuffer&) = delete;
  AppendBuffer& operator=(const AppendBuffer&) = delete;

  // Starts at a block boundary of the file; nothing before it is here.
  void start_at(uint64_t position);

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  size_t memory_bytes() const { return memory_bytes_; }

  void append(std::span<const std::byte> bytes);
  // Zeros up to the next block boundary, for the last write of a segment; end() stays.
  uint64_t pad_to_block();

  // Pieces that cover [from, to), appended to `pieces`. begin() <= from <= to <= end() (or the
  // padding).
  void slices(uint64_t from, uint64_t to, std::vector<io::Slice>& pieces) const;
  // The same, and each chunk touched is pinned once and noted in `pinned`.
  void lease(uint64_t from, uint64_t to, std::vector<io::Slice>& pieces,
             std::vector<Chunk*>& pinned) const;
  // Copies [from, from + into.size()).
  void copy(uint64_t from, std::span<std::byte> into) const;

  // Drops whole chunks that end at or below `position`.
  void drop_before(uint64_t position);
  // Drops everything; the segment is sealed.
  void clear();

 private:
  Chunk& grow(size_t wanted);
  size_t chunk_index(uint64_t position) const;

  BufferPool& pool_;
  base::Fifo<Chunk*> chunks_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  size_t memory_bytes_ = 0;
  size_t next_size_ = BufferPool::kSizes[0];  // doubles while chunks fill up
};

}  // namespace weir::log
