#pragma once
// Acceptor: the listeners and connections of one core. Every core listens on the same addresses;
// the kernel deals new connections out, and a connection stays on the core that accepted it.
//
//   Acceptor acceptor(context, config, metrics);
//   CHECK_OK(acceptor.listen(address));  // once per address, before the loop runs or from it
//   acceptor.start();
//   …
//   acceptor.stop(done);                 // done runs when the last connection is gone
//
// Limits: connections of the broker (each core takes its share) and per address; what is above them
// is closed at once. When descriptors run out the acceptor pauses and tries again.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/connection/config.h"
#include "engine/connection/connection.h"
#include "engine/connection/memory_budget.h"
#include "engine/connection/metrics.h"
#include "engine/handlers/context.h"
#include "io/base/intrusive_list.h"
#include "io/base/logging.h"
#include "io/base/result.h"
#include "io/network.h"
#include "io/timers.h"

namespace weir::connection {

class Acceptor {
 public:
  Acceptor(handlers::Context& context, const Config& config, Metrics& metrics);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // The address with the port that was given.
  [[nodiscard]] base::Result<io::Address> listen(const io::Address& address);
  void start();
  // Takes no new connections, answers what has been received, closes all. `done` runs from the
  // loop.
  void stop(io::Op& done);

  [[nodiscard]] size_t connection_count() const { return connection_count_; }
  [[nodiscard]] const MemoryBudget& budget() const { return budget_; }

 private:
  struct Listener {
    Listener(Acceptor& acceptor, io::ListenerId its_id);
    void on_accepted(io::Op& op);
    void on_retry();
    void on_stopped(io::Op&);

    Acceptor& owner;
    const io::ListenerId id;
    io::Op accept_op;
    io::Op stop_op;
    io::Timer retry_timer;
  };

  void accept(Listener& listener);
  void add_connection(io::SocketId socket);
  [[nodiscard]] const char* limit_reached(const std::string& host) const;
  void refuse(io::SocketId socket);
  static void on_connection_gone(void* owner, Connection& connection);
  void on_destroy(io::Op&);
  void end_if_stopped();

  // A socket that is closed again at once.
  struct Refusal : base::ListHook {
    io::Op close_op;
    Acceptor* owner = nullptr;
    void on_closed(io::Op&);
  };

  handlers::Context& context_;
  const Config& config_;
  Metrics& metrics_;
  MemoryBudget budget_;
  base::LogLimiter log_limiter_;
  ConnectionHost host_;
  size_t connections_max_;  // of this core

  std::vector<std::unique_ptr<Listener>> listeners_;
  base::IntrusiveList<Connection> connections_;
  base::IntrusiveList<Connection> gone_;  // to be destroyed by destroy_op_
  io::Op destroy_op_;
  size_t connection_count_ = 0;
  size_t refusal_count_ = 0;
  std::unordered_map<std::string, int32_t> count_by_address_;
  io::Op* stopped_ = nullptr;  // the caller's, while stopping
  bool stopping_ = false;
};

}  // namespace weir::connection
