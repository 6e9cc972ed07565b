#include "engine/handlers/request.h"

#include "engine/handlers/context.h"
#include "io/base/assert.h"

namespace weir::handlers {

Request::Request(Context& context, ResponseSink& sink, const Peer& peer)
    : context_(context), sink_(sink), peer_(&peer), arena_(kArenaSizeMax) {}

Request::~Request() {
  ASSERT(stage_ == Stage::received || stage_ == Stage::released, "destroyed while in flight");
  if (handler_ != nullptr) handler_->~Handler();
}

void Request::receive(FrameBuffer frame, size_t size, const wire::RequestHeader& header,
                      size_t body_position, io::Instant now) {
  ASSERT(stage_ == Stage::received && frame_size_ == 0);
  frame_ = std::move(frame);
  frame_size_ = size;
  header_ = header;
  body_ = frame_.first(size).subspan(body_position);
  received_at_ = now;
}

std::span<std::byte> Request::writable(wire::Bytes part) {
  if (part.empty()) return {};
  const auto frame = frame_.first(frame_size_);
  ASSERT(part.data() >= frame.data());
  return frame.subspan(static_cast<size_t>(part.data() - frame.data()), part.size());
}

void Request::reject(const wire::DecodeError& error) {
  ++context_.metrics.requests_rejected;
  close_connection("malformed body " + wire::to_string(error));
}

void Request::finish(Outcome outcome, wire::Pieces response) {
  ASSERT(stage_ == Stage::dispatched && outcome_ == Outcome::pending, "second outcome");
  stage_ = Stage::answered;
  outcome_ = outcome;
  response_ = response;
  for (const wire::Bytes piece : response) response_size_ += piece.size();
  sink_.on_outcome(*this);
}

void Request::hurry() {
  if (handler_ != nullptr && stage_ == Stage::dispatched) handler_->on_abandoned();
}

void Request::abandon() {
  abandoned_ = true;
  hurry();
}

bool Request::release() {
  ASSERT(stage_ == Stage::answered);
  stage_ = Stage::releasing;
  if (handler_ == nullptr || handler_->release()) stage_ = Stage::released;
  return stage_ == Stage::released;
}

void Request::released() {
  ASSERT(stage_ == Stage::releasing);
  stage_ = Stage::released;
  sink_.on_released(*this);
}

}  // namespace weir::handlers
