#include "engine/broker/http.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "engine/model/ports.h"
#include "io/base/bytes.h"
#include "io/base/units.h"

namespace weir::broker {
namespace {

using base::operator""_ms;
using base::operator""_s;

constexpr int64_t kDeadline = 10_s;
constexpr int64_t kAcceptRetry = 100_ms;

std::string answer(int code, std::string_view reason, std::string_view type,
                   std::string_view body) {
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                     "Connection: close\r\n\r\n{}",
                     code, reason, type, body.size(), body);
}

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

// One connection: head in, answer out, closed.
struct HttpServer::Client {
  Client(HttpServer& its_owner, io::SocketId its_socket) : owner(its_owner), socket(its_socket) {
    receive_op.bind<&Client::on_received>(*this);
    send_op.bind<&Client::on_sent>(*this);
    close_op.bind<&Client::on_closed>(*this);
    timer.bind<&Client::on_deadline>(*this);
    call.bind_reply<&Client::on_metrics>(*this);
  }

  void start() {
    owner.io_.loop.timers().arm_after(timer, kDeadline);
    owner.io_.network.receive(receive_op, socket);
  }

  void on_received(io::Op& op) {
    if (closing || op.result() <= 0) return close();
    head.append(base::as_text(receive_op.data));
    if (head.find("\r\n\r\n") != std::string::npos) return route();
    if (head.size() > kHeadSizeMax) {
      return send(answer(431, "Request Header Fields Too Large", kText, "head too large\n"));
    }
    owner.io_.network.receive(receive_op, socket);
  }

  void route() {
    const std::string_view line = std::string_view(head).substr(0, head.find("\r\n"));
    const std::string_view method = line.substr(0, line.find(' '));
    std::string_view target = line.substr(std::min(line.size(), method.size() + 1));
    target = target.substr(0, target.find_first_of(" ?"));
    if (method != "GET") return send(answer(405, "Method Not Allowed", kText, "GET only\n"));
    if (target == "/healthz") return send(answer(200, "OK", kText, "ok\n"));
    if (target == "/readyz") {
      return send(owner.ready_ ? answer(200, "OK", kText, "ready\n")
                               : answer(503, "Service Unavailable", kText, "starting\n"));
    }
    if (target == "/metrics") return ask_next_core();
    send(answer(404, "Not Found", kText, "try /metrics, /healthz or /readyz\n"));
  }

  // Core after core adds its numbers; each has the snapshot for itself meanwhile.
  void ask_next_core() {
    if (next_core == owner.io_.core_count) {
      return send(answer(200, "OK", kExposition, snapshot->text()));
    }
    if (!snapshot) snapshot = std::make_unique<MetricsSnapshot>();
    call.kind = ControlCall::Kind::metrics;
    call.snapshot = snapshot.get();
    owner.io_.mailboxes.send(io::CoreIndex(next_core++), model::ports::kControl, call);
  }

  void on_metrics(io::Message&) { closing ? end_if_idle() : ask_next_core(); }

  void send(std::string text) {
    out = std::move(text);
    slice = {base::as_bytes(out).data(), out.size()};
    owner.io_.network.send(send_op, socket, {&slice, 1});
  }

  void on_sent(io::Op& op) {
    if (closing || op.result() <= 0) return close();
    slice.data += op.result();
    slice.size -= static_cast<size_t>(op.result());
    if (slice.size == 0) return close();
    owner.io_.network.send(send_op, socket, {&slice, 1});
  }

  void on_deadline() { close(); }

  void close() {
    if (std::exchange(closing, true)) return end_if_idle();
    owner.io_.loop.timers().cancel(timer);
    owner.io_.network.close(close_op, socket);
  }

  void on_closed(io::Op&) {
    closed = true;
    end_if_idle();
  }

  void end_if_idle() {
    if (closed && !call.away() && !receive_op.armed() && !send_op.armed()) owner.finish(*this);
  }

  HttpServer& owner;
  const io::SocketId socket;
  io::ReceiveOp receive_op;
  io::Op send_op;
  io::Op close_op;
  io::Timer timer;
  ControlCall call;
  std::unique_ptr<MetricsSnapshot> snapshot;
  uint16_t next_core = 0;
  std::string head;
  std::string out;
  io::Slice slice;
  bool closing = false;
  bool closed = false;
};

HttpServer::HttpServer(io::CoreIo& io) : io_(io) {
  accept_op_.bind<&HttpServer::on_accept>(*this);
  stop_op_.bind<&HttpServer::on_stopped>(*this);
  retry_timer_.bind<&HttpServer::on_retry>(*this);
}

HttpServer::~HttpServer() = default;

base::Result<io::Address> HttpServer::listen(const io::Address& address) {
  TRY(listener_, io_.network.listen(address));
  listener_closed_ = false;
  io_.network.accept(accept_op_, listener_);
  return io_.network.listening(listener_);
}

void HttpServer::on_accept(io::Op& op) {
  gone_.clear();
  if (stopped_) {
    if (op.result() >= 0)
      clients_.push_back(std::make_unique<Client>(*this, io::SocketId(op.result())));
    if (op.result() >= 0) clients_.back()->close();
    return end_if_stopped();
  }
  if (op.result() < 0) return io_.loop.timers().arm_after(retry_timer_, kAcceptRetry);
  clients_.push_back(std::make_unique<Client>(*this, io::SocketId(op.result())));
  clients_.size() > kConnectionsMax ? clients_.back()->close() : clients_.back()->start();
  io_.network.accept(accept_op_, listener_);
}

void HttpServer::on_retry() {
  if (!stopped_) io_.network.accept(accept_op_, listener_);
}

void HttpServer::finish(Client& client) {
  const auto it = std::ranges::find_if(
      clients_, [&](const auto& candidate) { return candidate.get() == &client; });
  ASSERT(it != clients_.end());
  // The caller is a method of the client: it dies at the next occasion.
  gone_.push_back(std::move(*it));
  clients_.erase(it);
  end_if_stopped();
}

void HttpServer::stop(io::Op& done) {
  done.arm();
  stopped_ = &done;
  io_.loop.timers().cancel(retry_timer_);
  for (size_t i = clients_.size(); i-- > 0;) clients_[i]->close();
  if (listener_closed_) return end_if_stopped();
  io_.network.stop_listening(stop_op_, std::exchange(listener_, io::ListenerId(-1)));
}

void HttpServer::on_stopped(io::Op&) {
  listener_closed_ = true;
  end_if_stopped();
}

void HttpServer::end_if_stopped() {
  if (!stopped_ || !listener_closed_ || accept_op_.armed() || !clients_.empty()) return;
  io_.loop.finish(*std::exchange(stopped_, nullptr), 0);
}

}  // namespace weir::broker
