#pragma once
// Connection: one client on the core that accepted it, until the last thing in flight for it is
// back.
//
//   open ─▶ draining ─▶ closing ─▶ gone
//     └──────────────────▲
//
// open      receives, dispatches, sends.
// draining  the client has sent its last byte, sent something that is no request, or the broker
// stops:
//           nothing more is received; what is there is answered, for kDrainDeadline_ns at most.
// closing   the socket is being closed; requests in flight run to their end unheard.
// gone      nothing is in flight: the owner is told, and destroys the connection.
//
// A client that used more than its quota is answered, told how long to wait, and for that time
// nothing more of it is read or started (KIP-219). Its request time is counted here: what its
// requests took is charged when the next one is to start.
//
// Reading stops (back-pressure) while the pipeline is full or the core's memory for requests is
// used up; bytes that came with the last receive wait in the stash. Responses are gathered at the
// end of a turn, so that answers to many pipelined requests leave in one send.

#include <string>
#include <vector>

#include "engine/connection/config.h"
#include "engine/connection/frame.h"
#include "engine/connection/memory_budget.h"
#include "engine/connection/metrics.h"
#include "engine/connection/pipeline.h"
#include "engine/handlers/context.h"
#include "engine/handlers/quota_buckets.h"
#include "engine/handlers/request.h"
#include "engine/wire/header.h"
#include "io/base/intrusive_list.h"
#include "io/base/logging.h"
#include "io/network.h"
#include "io/timers.h"

namespace weir::connection {

class Connection;

// What the connections of one core share. Owned by the Acceptor, which outlives them.
struct ConnectionHost {
  handlers::Context& context;
  const Config& config;
  Metrics& metrics;
  MemoryBudget& budget;
  base::LogLimiter& log_limiter;

  // The connection is gone and may be destroyed, but not from inside this call.
  void* owner = nullptr;
  void (*on_gone)(void* owner, Connection& connection) = nullptr;
};

class Connection final : public base::ListHook, private handlers::ResponseSink {
 public:
  Connection(ConnectionHost& host, io::SocketId socket, handlers::Peer peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Answers what has been received, then closes.
  void drain();
  // Closes now.
  void abort(std::string_view reason);

  [[nodiscard]] const handlers::Peer& peer() const { return peer_; }

 private:
  enum class State : uint8_t { open, draining, closing, gone };

  // connection.cc: life, time, sending
  void on_turn(io::Op&);
  void schedule_turn();
  void dispatch();
  void start_request(handlers::Request& request);
  [[nodiscard]] bool charge_request_time(handlers::Request& request);
  void on_request_time_charged(io::Message&);
  void throttle(int32_t ms);
  void on_throttle_over() { schedule_turn(); }
  // The client has used more than its quota: nothing of it is read or started.
  [[nodiscard]] bool throttled() const { return throttle_timer_.armed(); }
  void send();
  void on_sent(io::Op& op);
  void reap();
  void close();
  void on_closed(io::Op&);
  void end_if_idle();
  void log_close(std::string_view reason, const handlers::Request* request);
  void arm_timer();
  void on_timer();
  [[nodiscard]] io::Instant next_deadline(const char*& reason) const;

  // connection_receive.cc: bytes to requests
  void receive_more();
  void on_received(io::Op& op);
  void on_received_directly(io::Op& op);
  [[nodiscard]] bool check_received(int32_t result);
  void consume(std::span<const std::byte> data);
  void stash(std::span<const std::byte> data);
  void take_frame();
  void refuse(std::string reason);
  void wait_for_memory();
  void on_memory_granted();
  void resume_receiving();

  // handlers::ResponseSink
  void on_outcome(handlers::Request& request) override;
  void on_released(handlers::Request& request) override;
  void finish_request(handlers::Request& request);
  void destroy(handlers::Request& request);
  [[nodiscard]] handlers::Request* new_request();

  ConnectionHost& host_;
  io::CoreIo& io_;
  const io::SocketId socket_;
  const handlers::Peer peer_;
  State state_ = State::open;

  FrameReader reader_;
  io::ReceiveOp receive_op_;
  io::Op receive_into_op_;
  std::vector<std::byte> stash_;   // received, not yet taken by the reader
  size_t stash_position_ = 0;      // first of them
  bool receiving_paused_ = false;  // nothing is armed although the connection is open
  MemoryBudget::Waiter memory_waiter_;

  Pipeline pipeline_;
  base::IntrusiveList<handlers::Request> releasing_;  // sent or given up, handlers not done yet
  base::IntrusiveList<handlers::Request> released_;   // to be destroyed in the next turn
  bool dispatching_ends_ = false;  // a request wants the connection closed
  handlers::Request* charged_ = nullptr;  // starts when request_charge_ is back
  handlers::QuotaCharge request_charge_;
  int64_t request_time_ns_ = 0;    // used and not charged yet
  io::Timer throttle_timer_;
  std::string refusal_;            // why nothing more is read, if it is the client's fault

  io::Op turn_op_;
  io::Op send_op_;
  std::vector<io::Slice> slices_;  // of the send in flight
  io::Op close_op_;
  bool closed_ = false;

  io::Timer timer_;
  io::Instant last_activity_;   // bytes came or went
  io::Instant frame_started_;   // the frame being received; moved when we were the ones who paused
  size_t frame_position_at_start_ = 0;
  io::Instant drain_started_;
};

}  // namespace weir::connection
