// The receiving half of Connection: bytes to frames, frames to requests, and when to stop reading.

#include <string>

#include "engine/connection/connection.h"
#include "engine/handlers/api_table.h"
#include "engine/wire/decode_error.h"

namespace weir::connection {

using handlers::Request;

namespace {

// What a receive may leave behind when the connection has to wait; larger memory is not kept.
constexpr size_t kKeptStashMax = 64_KiB;

std::string describe(const wire::RequestHeader& header) {
  return fmt::format("api={} version={} client_id={}", static_cast<int16_t>(header.api_key),
                     header.api_version, header.client_id.value_or(""));
}

// Empty: the request can be dispatched.
std::string refusal_of(const wire::RequestHeader& header) {
  using enum wire::RequestHeader::Support;
  if (header.api_key == wire::ApiKey::api_versions) return {};  // answered in any version
  switch (header.support) {
    case unknown_api_key: return "unknown api key: " + describe(header);
    case unsupported_version: return "unsupported version: " + describe(header);
    case not_served: return "api is not served: " + describe(header);
    case served: break;
  }
  return handlers::find_row(header.api_key) != nullptr
             ? std::string{}
             : "api is not served: " + describe(header);
}

}  // namespace

void Connection::receive_more() {
  if (state_ != State::open || receive_op_.armed() || receive_into_op_.armed()) return;
  std::span<std::byte> place;
  switch (reader_.prepare_direct(place)) {
    case FrameReader::Step::blocked: return wait_for_memory();
    case FrameReader::Step::refused: return refuse(reader_.refusal());
    case FrameReader::Step::need_bytes:
    case FrameReader::Step::frame: break;
  }
  if (place.empty()) {
    io_.network.receive(receive_op_, socket_);
  } else {
    io_.network.receive_into(receive_into_op_, socket_, place);
  }
}

void Connection::on_received(io::Op& op) {
  if (!check_received(op.result())) return;
  const bool was_in_frame = reader_.in_frame();
  if (!was_in_frame) frame_started_ = last_activity_;
  consume(receive_op_.data);
  if (reader_.in_frame()) arm_timer();
}

void Connection::on_received_directly(io::Op& op) {
  if (!check_received(op.result())) return;
  if (reader_.received(static_cast<size_t>(op.result())) == FrameReader::Step::frame) {
    take_frame();
    if (state_ == State::open && pipeline_.full()) receiving_paused_ = true;
  }
  if (state_ == State::open && throttled()) receiving_paused_ = true;
  if (!receiving_paused_) receive_more();
}

// False: there is nothing to take.
bool Connection::check_received(int32_t result) {
  if (state_ != State::open) {
    schedule_turn();
    return false;
  }
  if (result == 0) {
    drain();
    return false;
  }
  if (result < 0) {
    close();  // reset by the client: an everyday event, not worth a line
    return false;
  }
  last_activity_ = io_.clock.now();
  host_.metrics.bytes_received += static_cast<uint64_t>(result);
  return true;
}

// Takes as many requests as may be taken now; the rest of `data` goes to the stash.
void Connection::consume(std::span<const std::byte> data) {
  while (!data.empty()) {
    if (state_ != State::open) return;
    if (pipeline_.full()) {
      receiving_paused_ = true;
      return stash(data);
    }
    switch (reader_.push(data)) {
      case FrameReader::Step::need_bytes: break;
      case FrameReader::Step::frame: take_frame(); break;
      case FrameReader::Step::blocked:
        stash(data);
        return wait_for_memory();
      case FrameReader::Step::refused: return refuse(reader_.refusal());
    }
  }
  stash({});
  if (state_ == State::open && (pipeline_.full() || throttled())) receiving_paused_ = true;
  if (!receiving_paused_) receive_more();
}

// `data` may be a part of the stash itself.
void Connection::stash(std::span<const std::byte> data) {
  if (data.empty()) {
    stash_position_ = 0;
    stash_.clear();
    if (stash_.capacity() > kKeptStashMax) stash_ = {};
  } else if (stash_position_ < stash_.size()) {
    ASSERT(&data.back() == &stash_.back(), "these bytes are not the end of the stash");
    stash_position_ = stash_.size() - data.size();
  } else {
    stash_.assign(data.begin(), data.end());
    stash_position_ = 0;
  }
}

void Connection::take_frame() {
  Frame frame = reader_.take();
  frame_started_ = last_activity_;
  frame_position_at_start_ = 0;
  ++host_.metrics.requests;
  size_t body_position = 0;
  const auto header = wire::decode_header(frame.buffer.first(frame.size), body_position);
  std::string refusal =
      header ? refusal_of(*header) : "malformed header " + wire::to_string(header.error());
  if (!refusal.empty()) {
    host_.budget.release(frame.reserved);
    return refuse(std::move(refusal));
  }
  Request* const request = new_request();
  request->reserved = frame.reserved;
  request->receive(std::move(frame.buffer), frame.size, *header, body_position, last_activity_);
  pipeline_.push(*request, handlers::find_row(header->api_key)->overlaps);
  schedule_turn();
}

// The client sent what is no request we know: earlier ones are still answered.
void Connection::refuse(std::string reason) {
  ++host_.metrics.frames_refused;
  refusal_ = std::move(reason);
  drain();
}

void Connection::wait_for_memory() {
  ++host_.metrics.memory_waits;
  receiving_paused_ = true;
  host_.budget.wait(memory_waiter_, reader_.memory_wanted());
}

void Connection::on_memory_granted() {
  reader_.grant(reader_.memory_wanted());
  resume_receiving();
}

// Goes on where back-pressure stopped, if its cause is gone.
void Connection::resume_receiving() {
  if (!receiving_paused_ || state_ != State::open || memory_waiter_.linked() || pipeline_.full() ||
      throttled()) {
    return;
  }
  receiving_paused_ = false;
  // The client is not to blame for the time we did not read.
  frame_started_ = io_.clock.now();
  frame_position_at_start_ = reader_.position();
  if (stash_position_ < stash_.size()) {
    consume(std::span<const std::byte>(stash_).subspan(stash_position_));
  } else {
    receive_more();
  }
  if (reader_.in_frame()) arm_timer();
}

}  // namespace weir::connection
