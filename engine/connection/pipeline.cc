#include "engine/connection/pipeline.h"

#include <algorithm>

namespace weir::connection {

using Outcome = handlers::Request::Outcome;

void Pipeline::push(Request& request, bool overlaps) {
  ASSERT(tail_ - head_ < kPipelineDepthMax);
  slot(tail_++) = {&request, overlaps};
  frames_size_ += request.frame_size();
}

Pipeline::Request* Pipeline::next() {
  if (next_ == tail_ || output_size_ > kOutputSizeMax) return nullptr;
  Slot& candidate = slot(next_);
  if (unanswered_ > 0 && (exclusive_ || !candidate.overlaps)) return nullptr;
  exclusive_ = !candidate.overlaps;
  ++unanswered_;
  ++next_;
  return candidate.request;
}

void Pipeline::answered(const Request& request) {
  ASSERT(unanswered_ > 0);
  --unanswered_;
  exclusive_ = false;  // it was the only one, or none of them was exclusive
  output_size_ += request.response_size();
}

bool Pipeline::front_is_answered() const {
  return head_ != next_ && slot(head_).request->outcome() != Outcome::pending;
}

void Pipeline::gather(std::vector<io::Slice>& out) const {
  out.clear();
  size_t size = 0;
  size_t piece = front_piece_;
  size_t skip = front_sent_;
  for (uint32_t i = head_; i != next_; ++i) {
    const Request& request = *slot(i).request;
    if (request.outcome() == Outcome::pending || request.outcome() == Outcome::close) return;
    const wire::Pieces pieces = request.response();
    for (; piece < pieces.size(); ++piece) {
      if (out.size() == io::kSlicesMax || size >= kSendSizeMax) return;
      const wire::Bytes rest = pieces[piece].subspan(skip);
      out.push_back({rest.data(), rest.size()});
      size += rest.size();
      skip = 0;
    }
    piece = 0;
  }
}

// Bytes leave in the order of gather(); requests stay until pop_done().
void Pipeline::sent(size_t size) {
  ASSERT(size <= output_size_);
  output_size_ -= size;
  front_sent_ += size;
}

Pipeline::Request* Pipeline::pop_done() {
  if (!front_is_answered()) return nullptr;
  const Request& request = *slot(head_).request;
  if (request.outcome() == Outcome::close) return nullptr;
  const wire::Pieces pieces = request.response();
  while (front_piece_ < pieces.size() && front_sent_ >= pieces[front_piece_].size()) {
    front_sent_ -= pieces[front_piece_++].size();
  }
  if (front_piece_ < pieces.size()) return nullptr;
  return &pop_front();
}

const Pipeline::Request* Pipeline::closing() const {
  if (!front_is_answered()) return nullptr;
  const Request& request = *slot(head_).request;
  return request.outcome() == Outcome::close ? &request : nullptr;
}

Pipeline::Request* Pipeline::pop_undispatched() {
  if (next_ == tail_) return nullptr;
  Request& request = *slot(--tail_).request;
  frames_size_ -= request.frame_size();
  return &request;
}

Pipeline::Request* Pipeline::pop_answered() {
  return front_is_answered() ? &pop_front() : nullptr;
}

Pipeline::Request& Pipeline::pop_front() {
  Request& request = *slot(head_++).request;
  frames_size_ -= request.frame_size();
  front_piece_ = 0;
  return request;
}

}  // namespace weir::connection
