#include "engine/connection/frame.h"

#include <algorithm>
#include <cstring>

#include "engine/wire/api_key.h"
#include "io/base/bytes.h"

namespace weir::connection {

FrameReader::FrameReader(MemoryBudget& budget, size_t frame_size_max)
    : budget_(budget),
      // What can never be reserved must not be waited for.
      frame_size_max_(std::min(frame_size_max, budget.reservation_max())) {}

FrameReader::~FrameReader() { budget_.release(reserved_); }

FrameReader::Step FrameReader::push(std::span<const std::byte>& data) {
  if (position_ < kHeadSize) {
    const bool had_size = position_ >= kSizeFieldSize;
    take_head(data);
    if (!had_size && position_ >= kSizeFieldSize && !accept_size()) return Step::refused;
    if (position_ < kHeadSize) return Step::need_bytes;
    if (!accept_head()) return Step::refused;
  }
  while (!data.empty() && body_size() < frame_size_) {
    if (!make_room()) return refusal_ != nullptr ? Step::refused : Step::blocked;
    const size_t room = std::min(buffer_.capacity(), frame_size_) - body_size();
    const size_t taken = std::min(room, data.size());
    std::memcpy(buffer_.data() + body_size(), data.data(), taken);
    position_ += taken;
    data = data.subspan(taken);
  }
  return body_size() == frame_size_ ? Step::frame : Step::need_bytes;
}

FrameReader::Step FrameReader::prepare_direct(std::span<std::byte>& place) {
  place = {};
  if (position_ < kHeadSize || frame_size_ - body_size() < kDirectReceiveMin) {
    return Step::need_bytes;
  }
  if (!make_room()) return refusal_ != nullptr ? Step::refused : Step::blocked;
  const size_t end = std::min(buffer_.capacity(), frame_size_);
  place = {buffer_.data() + body_size(), end - body_size()};
  return Step::need_bytes;
}

FrameReader::Step FrameReader::received(size_t count) {
  ASSERT(count <= buffer_.capacity() - body_size());
  position_ += count;
  return body_size() == frame_size_ ? Step::frame : Step::need_bytes;
}

Frame FrameReader::take() {
  ASSERT(position_ >= kHeadSize && body_size() == frame_size_);
  Frame frame{.buffer = std::move(buffer_), .size = frame_size_, .reserved = reserved_};
  position_ = frame_size_ = reserved_ = 0;
  return frame;
}

void FrameReader::grant(size_t size) {
  ASSERT(size == memory_wanted_);
  reserved_ += size;
  memory_wanted_ = 0;
}

void FrameReader::take_head(std::span<const std::byte>& data) {
  const size_t taken = std::min(kHeadSize - position_, data.size());
  std::memcpy(head_.data() + position_, data.data(), taken);
  position_ += taken;
  data = data.subspan(taken);
}

bool FrameReader::accept_size() {
  const auto size = base::load_be<int32_t>(head_.data());
  if (size < 0) {
    refuse("frame size is negative");
  } else if (static_cast<size_t>(size) < kFrameSizeMin) {
    refuse("frame is too small for a header");
  } else if (static_cast<size_t>(size) > frame_size_max_) {
    // "GET ", "POST" and a TLS hello read as sizes far above any limit.
    const auto first = std::to_integer<char>(head_[0]);
    refuse(first == 0x16                                     ? "frame is too large: looks like TLS"
           : first == 'G' || first == 'P' || first == 'H' ? "frame is too large: looks like HTTP"
                                                             : "frame is too large");
  }
  if (refusal_ != nullptr) return false;
  frame_size_ = static_cast<size_t>(size);
  return true;
}

// Whatever else is wrong with the header is found when the frame is whole; here only what decides
// whether to take in so much.
bool FrameReader::accept_head() {
  const auto key = base::load_be<int16_t>(head_.data() + kSizeFieldSize);
  const wire::ApiInfo* const api = wire::find_api(key);
  if (frame_size_ > kOtherFrameSizeMax && (api == nullptr || api->key != wire::ApiKey::produce)) {
    refuse("frame is too large for its API");
    return false;
  }
  return true;
}

// Room for at least one more byte of the body: reserved, allocated, the head copied in. False:
// blocked or refused.
bool FrameReader::make_room() {
  if (body_size() < buffer_.capacity()) return true;
  const bool first = buffer_.capacity() == 0;
  const bool at_once = frame_size_ <= kFrameSizeAtOnce;
  const size_t target = first && !at_once ? kFrameSizeFirst : frame_size_;
  if (reserved_ < target) {
    memory_wanted_ = target - reserved_;
    if (!budget_.try_reserve(memory_wanted_)) return false;
    grant(memory_wanted_);
  }
  const size_t capacity = at_once ? frame_size_
                          : first ? kFrameSizeFirst
                                  : std::min(frame_size_, buffer_.capacity() * 2);
  if (!buffer_.grow(capacity)) {
    refuse("out of memory");
    return false;
  }
  if (first) {
    std::memcpy(buffer_.data(), head_.data() + kSizeFieldSize, kHeadSize - kSizeFieldSize);
  }
  return true;
}

FrameReader::Step FrameReader::refuse(const char* reason) {
  refusal_ = reason;
  return Step::refused;
}

}  // namespace weir::connection
