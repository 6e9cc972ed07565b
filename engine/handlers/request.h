#pragma once
// Request: one request in flight, and what its handler works with. Handler: the state machine of a
// request that cannot be answered at once.
//
// An API that can be answered at once is one function:
//
//   void start_list_groups(Request& request) {
//     wire::ListGroupsRequest in;
//     if (!request.decode(in)) return;             // has closed the connection and said why
//     wire::ListGroupsResponse out;
//     request.respond(out);                        // exactly one outcome per request
//   }
//
// One that waits for other cores is a Handler in the request's arena:
//
//   class HeartbeatHandler : public Handler {
//    public:
//     explicit HeartbeatHandler(Request& request) : Handler(request) {
//       call_.bind_reply<&HeartbeatHandler::on_reply>(*this);
//     }
//     void start() override {
//       if (!request_.decode(in_)) return;
//       call_.… = in_.…;                            // views of the frame stay valid: it is pinned
//       context().io.mailboxes.send(home, model::ports::kGroup, call_);
//     }
//    private:
//     void on_reply(io::Message&) { request_.respond(out_); }
//     group::GroupCall call_;
//     wire::HeartbeatRequest in_;
//   };
//   void start_heartbeat(Request& request) { request.run<HeartbeatHandler>(); }
//
// and one row in api_table.cc.
//
// Life: received → dispatched (start) → outcome (respond, respond_nothing or close_connection) →
// response sent or given up → released → destroyed. Frame, arena and handler live from the first to
// the last; what a response points at must live until release(). A connection that dies changes
// nothing in this: the handler goes on, its outcome is dropped. All on the connection's core.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/handlers/frame_buffer.h"
#include "engine/wire/codec.h"
#include "engine/wire/header.h"
#include "io/base/arena.h"
#include "io/base/intrusive_list.h"
#include "io/clock.h"
#include "io/network.h"

namespace weir::handlers {

struct Context;
class Request;

// Base of handlers. Objects live in the request's arena; the destructor runs when the request ends.
class Handler {
 public:
  explicit Handler(Request& request) : request_(request) {}
  virtual ~Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  virtual void start() = 0;

  // The client has gone or sends nothing more: a handler that waits for news or a deadline stops
  // waiting and answers with what there is. May run at any time between start and outcome, and
  // twice.
  virtual void on_abandoned() {}

  // The response was sent, or never will be: gives back what it pointed at. True when nothing of
  // the handler is in flight any more; otherwise the handler calls request_.released() once it is
  // so.
  [[nodiscard]] virtual bool release() { return true; }

 protected:
  [[nodiscard]] Context& context() const;
  [[nodiscard]] base::Arena& arena() const;

  Request& request_;
};

// Where a request came from. Lives as long as the connection; a request's connection outlives it.
struct Peer {
  io::Address remote;
  io::Address local;  // the address the client connected to
  io::Instant connected_at{};
};

// The connection, as its requests see it. Calls come from inside handlers: the sink only takes note
// and acts later in the turn, so a request is never destroyed below its own handler.
class ResponseSink {
 public:
  virtual void on_outcome(Request& request) = 0;
  virtual void on_released(Request& request) = 0;

 protected:
  ~ResponseSink() = default;
};

class Request : public base::ListHook {
 public:
  enum class Stage : uint8_t { received, dispatched, answered, releasing, released };
  enum class Outcome : uint8_t { pending, response, nothing, close };

  // Memory a request's arena may take: decoded arrays, handler, response.
  static constexpr size_t kArenaSizeMax = size_t{128} << 20;

  Request(Context& context, ResponseSink& sink, const Peer& peer);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // --- for handlers ---

  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] base::Arena& arena() { return arena_; }
  [[nodiscard]] const wire::RequestHeader& header() const { return header_; }
  [[nodiscard]] wire::ApiKey api_key() const { return header_.api_key; }
  [[nodiscard]] int16_t api_version() const { return header_.api_version; }
  // Null and empty are the same to Kafka.
  [[nodiscard]] std::string_view client_id() const { return header_.client_id.value_or(""); }
  [[nodiscard]] const Peer& peer() const { return *peer_; }
  [[nodiscard]] io::Instant received_at() const { return received_at_; }
  [[nodiscard]] wire::Bytes body() const { return body_; }

  // Decodes the body in the request's version. False: malformed, the connection will be closed.
  template <class M>
  [[nodiscard]] bool decode(M& out) {
    const auto status = wire::decode(out, body_, api_version(), arena_);
    if (!status) reject(status.error());
    return status.has_value();
  }
  // The same bytes of the frame, writable: what a decoded field views belongs to this request.
  [[nodiscard]] std::span<std::byte> writable(wire::Bytes part);

  // Places the handler in the arena and starts it.
  template <class H, class... Args>
  void run(Args&&... args) {
    static_assert(std::is_base_of_v<Handler, H>);
    void* const place = arena_.allocate(sizeof(H), alignof(H));
    if (place == nullptr) return close_connection("request too large for its memory");
    Handler* const handler = ::new (place) H(*this, std::forward<Args>(args)...);
    handler_ = handler;
    handler->start();
  }

  // Exactly one of these three, once. Encoding copies all but records, so `m` may die after it.
  template <class M>
  void respond(const M& m) {
    respond_in_version(m, api_version());
  }
  // ApiVersions answers versions it does not know in version 0.
  template <class M>
  void respond_in_version(const M& m, int16_t version) {
    if (abandoned_) return finish(Outcome::nothing, {});
    const auto pieces = wire::encode_response(header_.correlation_id, header_.api_key, version,
                                              with_throttle_time(m), arena_);
    if (pieces.empty()) return close_connection("response too large for its memory");
    finish(Outcome::response, pieces);
  }
  void respond_nothing() { finish(Outcome::nothing, {}); }  // Produce with acks=0
  // Earlier responses of the connection still leave. `reason`: for the log line.
  void close_connection(std::string reason) {
    close_reason_ = std::move(reason);
    finish(Outcome::close, {});
  }

  // After release() returned false: nothing is in flight any more.
  void released();

  // The client has used more than its quota: the response says so, and behind it the connection
  // takes nothing from the client for that time (KIP-219). Before the outcome.
  void throttle(int32_t ms) { throttle_ms_ = std::max(throttle_ms_, ms); }

  // --- for the connection ---

  [[nodiscard]] int32_t throttle_ms() const { return throttle_ms_; }

  // Takes the frame (without its size field) and its parsed header.
  void receive(FrameBuffer frame, size_t size, const wire::RequestHeader& header,
               size_t body_position, io::Instant now);
  void dispatched() { stage_ = Stage::dispatched; }
  // The client sends nothing more, but may still read: the handler need not wait for news.
  void hurry();
  // The client has gone: the same, and the response is dropped.
  void abandon();
  // Response sent or given up. True: may be destroyed now; else on_released() comes.
  [[nodiscard]] bool release();

  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] Outcome outcome() const { return outcome_; }
  [[nodiscard]] wire::Pieces response() const { return response_; }
  [[nodiscard]] size_t response_size() const { return response_size_; }
  [[nodiscard]] const std::string& close_reason() const { return close_reason_; }
  [[nodiscard]] size_t frame_size() const { return frame_size_; }
  // Bytes held by frame and arena together.
  [[nodiscard]] size_t memory_size() const { return frame_.capacity() + arena_.size_reserved(); }

  size_t reserved = 0;  // bytes of the core's memory budget held for this request

 private:
  template <class M>
  [[nodiscard]] M with_throttle_time(const M& m) const {
    M copy = m;  // of views
    if constexpr (requires { copy.throttle_time_ms; }) {
      copy.throttle_time_ms = std::max(copy.throttle_time_ms, throttle_ms_);
    }
    return copy;
  }
  void reject(const wire::DecodeError& error);
  void finish(Outcome outcome, wire::Pieces response);

  Context& context_;
  ResponseSink& sink_;
  const Peer* peer_;
  base::Arena arena_;
  FrameBuffer frame_;
  size_t frame_size_ = 0;
  wire::RequestHeader header_;
  wire::Bytes body_;
  io::Instant received_at_;
  Handler* handler_ = nullptr;  // in the arena
  wire::Pieces response_;       // frame pieces, from the size field on
  size_t response_size_ = 0;    // bytes of response_
  std::string close_reason_;
  Stage stage_ = Stage::received;
  Outcome outcome_ = Outcome::pending;
  int32_t throttle_ms_ = 0;
  bool abandoned_ = false;
};

inline Context& Handler::context() const { return request_.context(); }
inline base::Arena& Handler::arena() const { return request_.arena(); }

}  // namespace weir::handlers
