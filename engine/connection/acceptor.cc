#include "engine/connection/acceptor.h"

#include <algorithm>
#include <cerrno>

namespace weir::connection {

namespace {

size_t share_of(int32_t connections_max, uint16_t core_count) {
  return std::max<size_t>(1, (static_cast<size_t>(connections_max) + core_count - 1) / core_count);
}

}  // namespace

Acceptor::Listener::Listener(Acceptor& acceptor, io::ListenerId its_id)
    : owner(acceptor), id(its_id) {
  accept_op.bind<&Listener::on_accepted>(*this);
  stop_op.bind<&Listener::on_stopped>(*this);
  retry_timer.bind<&Listener::on_retry>(*this);
}

Acceptor::Acceptor(handlers::Context& context, const Config& config, Metrics& metrics)
    : context_(context),
      config_(config),
      metrics_(metrics),
      budget_(context.io.loop, static_cast<size_t>(config.memory_size_max)),
      host_{.context = context,
            .config = config,
            .metrics = metrics,
            .budget = budget_,
            .log_limiter = log_limiter_,
            .owner = this,
            .on_gone = &Acceptor::on_connection_gone},
      connections_max_(share_of(config.connections_max, context.io.core_count)) {
  destroy_op_.bind<&Acceptor::on_destroy>(*this);
}

Acceptor::~Acceptor() { ASSERT(connection_count_ == 0 && refusal_count_ == 0); }

base::Result<io::Address> Acceptor::listen(const io::Address& address) {
  TRY(const io::ListenerId id, context_.io.network.listen(address));
  listeners_.push_back(std::make_unique<Listener>(*this, id));
  return context_.io.network.listening(id);
}

void Acceptor::start() {
  for (const auto& listener : listeners_) accept(*listener);
}

void Acceptor::stop(io::Op& done) {
  ASSERT(!stopping_);
  stopping_ = true;
  stopped_ = &done;
  for (const auto& listener : listeners_) {
    context_.io.loop.timers().cancel(listener->retry_timer);
    context_.io.network.stop_listening(listener->stop_op, listener->id);
  }
  for (base::ListHook* hook = connections_.empty() ? nullptr : &connections_.front(); hook;) {
    auto& connection = *static_cast<Connection*>(hook);
    hook = hook == static_cast<base::ListHook*>(&connections_.back()) ? nullptr : hook->next;
    connection.drain();
  }
  end_if_stopped();
}

void Acceptor::accept(Listener& listener) {
  context_.io.network.accept(listener.accept_op, listener.id);
}

void Acceptor::Listener::on_accepted(io::Op& op) {
  if (op.result() >= 0) {
    const io::SocketId socket(op.result());
    owner.stopping_ ? owner.refuse(socket) : owner.add_connection(socket);
  }
  if (owner.stopping_) return owner.end_if_stopped();
  if (op.result() >= 0 || op.result() == -ECONNABORTED) return owner.accept(*this);
  ++owner.metrics_.accept_errors;
  const io::Instant now = owner.context_.io.clock.now();
  if (owner.log_limiter_.allow(now.ns)) {
    base::log_warning("connection", "accept failed errno={}, trying again", -op.result());
  }
  owner.context_.io.loop.timers().arm(retry_timer, now + kAcceptRetry_ns);
}

void Acceptor::Listener::on_retry() { owner.accept(*this); }

void Acceptor::Listener::on_stopped(io::Op&) { owner.end_if_stopped(); }

void Acceptor::add_connection(io::SocketId socket) {
  handlers::Peer peer{.remote = context_.io.network.peer_address(socket),
                      .local = context_.io.network.local_address(socket),
                      .connected_at = context_.io.clock.now()};
  if (const char* const reason = limit_reached(peer.remote.host)) {
    ++metrics_.refused;
    if (log_limiter_.allow(context_.io.clock.now().ns)) {
      base::log_warning("connection", "refused peer={}:{} reason=\"{}\"", peer.remote.host,
                        peer.remote.port, reason);
    }
    return refuse(socket);
  }
  ++count_by_address_[peer.remote.host];
  ++connection_count_;
  auto* const connection = new Connection(host_, socket, std::move(peer));
  connections_.push_back(*connection);
  connection->start();
}

const char* Acceptor::limit_reached(const std::string& host) const {
  if (connection_count_ >= connections_max_) return "max.connections reached";
  const auto found = count_by_address_.find(host);
  if (found != count_by_address_.end() && found->second >= config_.connections_per_address_max) {
    return "max.connections.per.ip reached";
  }
  return nullptr;
}

void Acceptor::refuse(io::SocketId socket) {
  auto* const refusal = new Refusal;
  refusal->owner = this;
  refusal->close_op.bind<&Refusal::on_closed>(*refusal);
  ++refusal_count_;
  context_.io.network.close(refusal->close_op, socket);
}

void Acceptor::Refusal::on_closed(io::Op&) {
  Acceptor& acceptor = *owner;
  delete this;
  --acceptor.refusal_count_;
  acceptor.end_if_stopped();
}

void Acceptor::on_connection_gone(void* owner, Connection& connection) {
  auto& self = *static_cast<Acceptor*>(owner);
  connection.unlink();
  self.gone_.push_back(connection);
  if (!self.destroy_op_.armed()) self.context_.io.loop.post(self.destroy_op_);
}

void Acceptor::on_destroy(io::Op&) {
  while (Connection* const connection = gone_.pop_front()) {
    const auto found = count_by_address_.find(connection->peer().remote.host);
    if (--found->second == 0) count_by_address_.erase(found);
    --connection_count_;
    delete connection;
  }
  end_if_stopped();
}

void Acceptor::end_if_stopped() {
  if (stopped_ == nullptr || connection_count_ > 0 || refusal_count_ > 0) return;
  for (const auto& listener : listeners_) {
    if (listener->accept_op.armed() || listener->stop_op.armed()) return;
  }
  context_.io.loop.post(*stopped_);
  stopped_ = nullptr;
}

}  // namespace weir::connection
