#pragma once
// Pipeline: the requests of one connection in the order they came, and the bytes that answer them
// in the same order.
//
//      head ─ answered, being sent ─▶ dispatched ─▶ next() ─ not dispatched yet ─ tail
//
// Requests that overlap (Produce) may be in flight together; any other waits for all before it and
// holds back all behind it, as Kafka does. The pipeline owns no request: who pushed it destroys it
// after pop_done() or pop_undispatched() gave it back.

#include <array>
#include <cstdint>
#include <vector>

#include "engine/connection/config.h"
#include "engine/handlers/request.h"
#include "io/disk.h"

namespace weir::connection {

class Pipeline {
 public:
  using Request = handlers::Request;

  [[nodiscard]] bool empty() const { return head_ == tail_; }
  // No more requests for now: too many, too large, or too much waits to be sent.
  [[nodiscard]] bool full() const {
    return tail_ - head_ == kPipelineDepthMax || frames_size_ >= kPipelineSizeMax;
  }
  [[nodiscard]] bool has_undispatched() const { return next_ != tail_; }
  // Bytes of responses that are ready but not sent.
  [[nodiscard]] size_t output_size() const { return output_size_; }

  void push(Request& request, bool overlaps);
  // The next request that may start now, which counts as dispatched from then on; else nullptr.
  [[nodiscard]] Request* next();
  // A dispatched request has its outcome.
  void answered(const Request& request);

  // Pieces to be sent next, at most kSlicesMax of them; empty when there is nothing to send.
  void gather(std::vector<io::Slice>& out) const;
  void sent(size_t size);
  // The oldest request, if all its bytes are sent or it had none; it leaves the pipeline.
  [[nodiscard]] Request* pop_done();
  // All before it is sent and the oldest request wants the connection closed.
  [[nodiscard]] const Request* closing() const;

  // When the connection is gone: the newest request that was never dispatched, else nullptr.
  [[nodiscard]] Request* pop_undispatched();
  // The oldest request with an outcome, sent or not, if it is at the front; else nullptr.
  [[nodiscard]] Request* pop_answered();

  template <class F>
  void for_each_dispatched(F&& f) {
    for (uint32_t i = head_; i != next_; ++i) f(*slot(i).request);
  }

 private:
  struct Slot {
    Request* request = nullptr;
    bool overlaps = false;
  };
  static_assert((kPipelineDepthMax & (kPipelineDepthMax - 1)) == 0);

  Slot& slot(uint32_t i) { return slots_[i % kPipelineDepthMax]; }
  const Slot& slot(uint32_t i) const { return slots_[i % kPipelineDepthMax]; }
  [[nodiscard]] bool front_is_answered() const;
  Request& pop_front();

  std::array<Slot, kPipelineDepthMax> slots_;
  uint32_t head_ = 0;  // oldest; head_ <= next_ <= tail_, all modulo 2^32
  uint32_t next_ = 0;  // first not dispatched
  uint32_t tail_ = 0;
  uint32_t unanswered_ = 0;   // dispatched, without outcome
  bool exclusive_ = false;    // the one unanswered request does not overlap
  size_t frames_size_ = 0;    // bytes of the requests' frames
  size_t output_size_ = 0;
  size_t front_piece_ = 0;    // of the front request's response: first piece not wholly sent
  size_t front_sent_ = 0;     // bytes of that piece that are sent
};

}  // namespace weir::connection
