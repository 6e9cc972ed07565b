#pragma once
// FrameReader: bytes of one connection to frames (size int32, then that many bytes).
//
// A frame is assembled in one contiguous buffer. Its memory is reserved from the core's budget
// before its body is taken, and allocated as the body arrives: what a peer merely announces costs
// nothing (RELIABILITY F37). Large frames begin with kFrameSizeFirst, reserve the rest once those
// bytes are there, and double. API key and version are checked as soon as they have come, before
// the body.
//
//   size ─▶ head ─▶ body ─▶ frame ready ─▶ take() ─▶ size
//                    └─ needs memory: blocked() until grant()

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/connection/config.h"
#include "engine/connection/memory_budget.h"
#include "engine/handlers/frame_buffer.h"

namespace weir::connection {

// A whole frame without its size field, and the bytes reserved for it, now the taker's to release.
struct Frame {
  handlers::FrameBuffer buffer;
  size_t size = 0;
  size_t reserved = 0;
};

class FrameReader {
 public:
  enum class Step : uint8_t {
    need_bytes,  // everything was taken, the frame is not whole
    frame,       // take() it, then go on
    blocked,     // reserve memory_wanted() bytes, then grant(), then go on
    refused,     // refusal() says why; the connection must be closed
  };

  FrameReader(MemoryBudget& budget, size_t frame_size_max);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  // Takes bytes off the front of `data`, up to the end of the frame.
  [[nodiscard]] Step push(std::span<const std::byte>& data);
  // Where much is missing: the place in the frame for the next bytes, else empty. After
  // received(count) the frame may be whole. blocked as in push().
  [[nodiscard]] Step prepare_direct(std::span<std::byte>& place);
  [[nodiscard]] Step received(size_t count);
  [[nodiscard]] Frame take();

  [[nodiscard]] size_t memory_wanted() const { return memory_wanted_; }
  void grant(size_t size);

  [[nodiscard]] const char* refusal() const { return refusal_; }
  // Between the first byte of a frame and its last.
  [[nodiscard]] bool in_frame() const { return position_ > 0; }
  [[nodiscard]] bool has_head() const { return position_ >= kHeadSize; }
  // Bytes of the frame that have come, its size field included.
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t frame_size() const { return frame_size_; }

 private:
  static constexpr size_t kSizeFieldSize = 4;
  static constexpr size_t kHeadSize = 8;  // size, api key, version

  void take_head(std::span<const std::byte>& data);
  [[nodiscard]] bool accept_size();
  [[nodiscard]] bool accept_head();
  [[nodiscard]] bool make_room();
  Step refuse(const char* reason);
  size_t body_size() const { return position_ - kSizeFieldSize; }

  MemoryBudget& budget_;
  const size_t frame_size_max_;
  std::array<std::byte, kHeadSize> head_{};
  size_t position_ = 0;
  size_t frame_size_ = 0;  // from the size field, once that has come
  handlers::FrameBuffer buffer_;
  size_t reserved_ = 0;
  size_t memory_wanted_ = 0;
  const char* refusal_ = nullptr;
};

}  // namespace weir::connection
