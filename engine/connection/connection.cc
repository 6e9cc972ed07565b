#include "engine/connection/connection.h"

#include <algorithm>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/handlers/api_table.h"

namespace weir::connection {

using handlers::Request;

namespace {

// A send of a wide fetch needs many slices, once; memory for them is not kept.
constexpr size_t kKeptSlicesMax = 64;

io::Instant earlier(io::Instant a, io::Instant b) { return a < b ? a : b; }

}  // namespace

Connection::Connection(ConnectionHost& host, io::SocketId socket, handlers::Peer peer)
    : host_(host),
      io_(host.context.io),
      socket_(socket),
      peer_(std::move(peer)),
      reader_(host.budget, static_cast<size_t>(host.config.request_size_max)) {
  receive_op_.bind<&Connection::on_received>(*this);
  receive_into_op_.bind<&Connection::on_received_directly>(*this);
  memory_waiter_.bind<&Connection::on_memory_granted>(*this);
  turn_op_.bind<&Connection::on_turn>(*this);
  send_op_.bind<&Connection::on_sent>(*this);
  close_op_.bind<&Connection::on_closed>(*this);
  timer_.bind<&Connection::on_timer>(*this);
  throttle_timer_.bind<&Connection::on_throttle_over>(*this);
  request_charge_.bind_reply<&Connection::on_request_time_charged>(*this);
}

Connection::~Connection() {
  ASSERT(state_ == State::gone && pipeline_.empty() && releasing_.empty() && released_.empty());
}

void Connection::start() {
  last_activity_ = frame_started_ = io_.clock.now();
  ++host_.metrics.opened;
  arm_timer();
  receive_more();
}

void Connection::drain() {
  if (state_ != State::open) return;
  state_ = State::draining;
  drain_started_ = io_.clock.now();
  host_.budget.cancel(memory_waiter_);
  pipeline_.for_each_dispatched([](Request& request) { request.hurry(); });
  arm_timer();
  schedule_turn();
}

void Connection::abort(std::string_view reason) {
  if (state_ == State::closing || state_ == State::gone) return;
  log_close(reason, nullptr);
  close();
}

void Connection::schedule_turn() {
  if (!turn_op_.armed()) io_.loop.at_turn_end(turn_op_);
}

void Connection::on_turn(io::Op&) {
  if (state_ == State::open || state_ == State::draining) {
    dispatch();
    reap();
    send();
    if (const Request* const request = pipeline_.closing()) {
      log_close(request->close_reason(), request);
      close();
    } else if (state_ == State::draining && pipeline_.empty()) {
      if (!refusal_.empty()) log_close(refusal_, nullptr);
      close();
    } else {
      resume_receiving();
    }
  }
  reap();
  end_if_idle();
}

void Connection::dispatch() {
  // Who sends nothing more need not be held up.
  while (!dispatching_ends_ && charged_ == nullptr &&
         !(throttled() && state_ == State::open)) {
    Request* const request = pipeline_.next();
    if (request == nullptr) return;
    ++host_.context.metrics.requests;
    request->dispatched();
    if (charge_request_time(*request)) return;
    start_request(*request);
  }
}

void Connection::start_request(Request& request) {
  const bool timed = !host_.context.catalog.client_quotas().empty();
  const int64_t started_ns = timed ? io_.clock.now().ns : 0;
  handlers::find_row(request.api_key())->start(request);
  if (timed) request_time_ns_ += io_.clock.now().ns - started_ns;
  if (state_ == State::draining) request.hurry();
}

// True: the request starts when its client's request time is known to be within its quota, or how
// long it must wait behind this request.
bool Connection::charge_request_time(Request& request) {
  const int64_t used_ns = std::exchange(request_time_ns_, 0) + handlers::kRequestCost_ns;
  if (!request_charge_.prepare(request, catalog::QuotaKind::request)) return false;
  request_charge_.amount = static_cast<double>(used_ns);
  charged_ = &request;
  request_charge_.send(host_.context);
  return true;
}

void Connection::on_request_time_charged(io::Message&) {
  Request& request = *std::exchange(charged_, nullptr);
  request.throttle(request_charge_.throttle_ms);
  start_request(request);
  if (state_ == State::closing) request.hurry();
  schedule_turn();
}

void Connection::throttle(int32_t ms) {
  const io::Instant until = io_.clock.now() + ms * 1_ms;
  if (state_ == State::closing || (throttled() && until <= throttle_timer_.deadline())) return;
  ++host_.metrics.throttles;
  io_.loop.timers().arm(throttle_timer_, until);
}

void Connection::send() {
  if (send_op_.armed()) return;
  pipeline_.gather(slices_);
  if (slices_.empty()) return;
  last_activity_ = io_.clock.now();
  io_.network.send(send_op_, socket_, slices_);
  arm_timer();
}

void Connection::on_sent(io::Op& op) {
  if (slices_.capacity() > kKeptSlicesMax) slices_ = {};
  if (state_ == State::closing) return schedule_turn();
  if (op.result() <= 0) return close();  // the client has gone
  last_activity_ = io_.clock.now();
  host_.metrics.bytes_sent += static_cast<uint64_t>(op.result());
  pipeline_.sent(static_cast<size_t>(op.result()));
  schedule_turn();
}

// Requests that are done leave the pipeline; those whose handlers are done too are destroyed. Never
// called from inside a handler.
void Connection::reap() {
  if (state_ == State::open || state_ == State::draining) {
    while (Request* const request = pipeline_.pop_done()) finish_request(*request);
  } else if (!send_op_.armed()) {
    while (Request* const request = pipeline_.pop_undispatched()) destroy(*request);
    while (Request* const request = pipeline_.pop_answered()) finish_request(*request);
  }
  while (Request* const request = released_.pop_front()) destroy(*request);
}

void Connection::close() {
  ASSERT(state_ == State::open || state_ == State::draining);
  state_ = State::closing;
  ++host_.metrics.closed;
  host_.budget.cancel(memory_waiter_);
  io_.loop.timers().cancel(timer_);
  io_.loop.timers().cancel(throttle_timer_);
  pipeline_.for_each_dispatched([](Request& request) { request.abandon(); });
  io_.network.close(close_op_, socket_);
}

void Connection::on_closed(io::Op&) {
  closed_ = true;
  schedule_turn();
}

void Connection::end_if_idle() {
  if (state_ != State::closing || !closed_ || !pipeline_.empty() || !releasing_.empty()) return;
  ASSERT(!receive_op_.armed() && !receive_into_op_.armed() && !send_op_.armed());
  if (turn_op_.armed()) return;  // the last look is still to come
  state_ = State::gone;
  host_.on_gone(host_.owner, *this);
}

void Connection::on_outcome(Request& request) {
  pipeline_.answered(request);
  if (request.throttle_ms() > 0) throttle(request.throttle_ms());
  if (request.outcome() == Request::Outcome::close) {
    // What comes behind it would never be answered.
    dispatching_ends_ = true;
    drain();
  }
  // What the handler put into the arena and the answer now count as well.
  const size_t size = request.memory_size();
  if (size > request.reserved) {
    host_.budget.reserve_late(size - request.reserved);
    request.reserved = size;
  }
  schedule_turn();
}

void Connection::on_released(Request& request) {
  request.unlink();
  released_.push_back(request);
  schedule_turn();
}

void Connection::finish_request(Request& request) {
  if (request.release()) {
    destroy(request);
  } else {
    releasing_.push_back(request);
  }
}

void Connection::destroy(Request& request) {
  host_.budget.release(request.reserved);
  delete &request;
}

Request* Connection::new_request() { return new Request(host_.context, *this, peer_); }

void Connection::log_close(std::string_view reason, const Request* request) {
  if (!host_.log_limiter.allow(io_.clock.now().ns)) return;
  if (request == nullptr) {
    base::log_warning("connection", "closed peer={}:{} reason=\"{}\"", peer_.remote.host,
                      peer_.remote.port, reason);
    return;
  }
  base::log_warning("connection", "closed peer={}:{} api={} version={} client_id={} reason=\"{}\"",
                    peer_.remote.host, peer_.remote.port, wire::name(request->api_key()),
                    request->api_version(), request->client_id(), reason);
}

// The timer is lazy: it fires at a moment that once was the earliest deadline, looks again, and
// moves on. So a request costs no timer operation.
void Connection::arm_timer() {
  const char* reason = nullptr;
  const io::Instant deadline = next_deadline(reason);
  if (!timer_.armed() || deadline < timer_.deadline()) {
    io_.loop.timers().arm(timer_, deadline);
  }
}

void Connection::on_timer() {
  const char* reason = nullptr;
  const io::Instant deadline = next_deadline(reason);
  if (deadline > io_.clock.now()) return arm_timer();
  ++host_.metrics.timeouts;
  abort(reason);
}

io::Instant Connection::next_deadline(const char*& reason) const {
  io::Instant deadline = last_activity_ + host_.config.idle_ms_max * base::operator""_ms(1);
  reason = "idle";
  // Whose request is being worked on is not idle, however long that takes.
  if (!pipeline_.empty()) deadline = io_.clock.now() + host_.config.idle_ms_max * 1_ms;
  const auto candidate = [&](io::Instant instant, const char* its_reason) {
    if (earlier(instant, deadline) == deadline) return;
    deadline = instant;
    reason = its_reason;
  };
  if (state_ == State::draining) {
    candidate(drain_started_ + kDrainDeadline_ns, "unfinished when it had to close");
  }
  if (send_op_.armed()) {
    candidate(last_activity_ + kWriteDeadline_ns, "the client does not read its responses");
  }
  if (reader_.in_frame() && !receiving_paused_ && state_ == State::open) {
    const auto came = static_cast<int64_t>(reader_.position() - frame_position_at_start_);
    candidate(reader_.has_head() ? frame_started_ + (kBodyGrace_ns + came * 1_s / kBodyRateMin)
                                 : frame_started_ + kHeadDeadline_ns,
              "the client sends its request too slowly");
  }
  return deadline;
}

}  // namespace weir::connection
