#pragma once
// HttpServer: GET /metrics, /healthz and /readyz on core 0, for monitoring. Requests are tiny and
// fixed: a head of at most 8 KiB, no body, one answer, then the connection is closed. Everything
// else is refused. Owned by core 0; runs on its loop, so that metrics of all cores are gathered by
// messages and nothing is shared with a thread.

#include <memory>
#include <string>
#include <vector>

#include "engine/broker/boot.h"
#include "engine/broker/metrics.h"
#include "io/core_io.h"
#include "io/timers.h"

namespace weir::broker {

class HttpServer {
 public:
  static constexpr size_t kHeadSizeMax = 8 * 1024;
  static constexpr size_t kConnectionsMax = 64;

  explicit HttpServer(io::CoreIo& io);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  base::Result<io::Address> listen(const io::Address& address);
  void set_ready(bool ready) { ready_ = ready; }
  // Runs `done` once the listener and all connections are closed.
  void stop(io::Op& done);

 private:
  struct Client;
  void on_accept(io::Op& op);
  void on_retry();
  void on_stopped(io::Op& op);
  void finish(Client& client);
  void end_if_stopped();

  io::CoreIo& io_;
  io::ListenerId listener_{-1};
  io::Op accept_op_;
  io::Op stop_op_;
  io::Timer retry_timer_;
  io::Op* stopped_ = nullptr;
  bool listener_closed_ = true;
  bool ready_ = false;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Client>> gone_;
};

}  // namespace weir::broker
