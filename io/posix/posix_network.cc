#include "io/posix/posix_network.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace weir::io::posix {

namespace {

constexpr size_t kBufferSize = size_t{64} << 10;
constexpr size_t kTransferMax = size_t{1} << 30;

void finish(Op*& slot, int32_t result) {
  Op& op = *std::exchange(slot, nullptr);
  op.set_result(result);
  op.run();
}

}  // namespace

PosixNetwork::PosixNetwork(CoreIndex core, PosixLoop& loop, ListenSockets& listen_sockets)
    : core_(core),
      loop_(loop),
      listen_sockets_(listen_sockets),
      buffer_(std::make_unique<std::byte[]>(kBufferSize)) {
  loop.attach(static_cast<Attempts&>(*this));
}

PosixNetwork::~PosixNetwork() {
  for (Listener& listener : listeners_) {
    if (listener.descriptor >= 0) listen_sockets_.close(core_, listener.opened);
  }
  for (Socket& socket : sockets_) {
    if (socket.descriptor >= 0) ::close(socket.descriptor);
  }
}

base::Result<ListenerId> PosixNetwork::listen(const Address& address) {
  TRY(const auto opened, listen_sockets_.open(core_, address, true));
  auto place = std::ranges::find_if(
      listeners_, [](const Listener& listener) { return listener.descriptor < 0; });
  const auto index = static_cast<int32_t>(place - listeners_.begin());
  Listener& own = place == listeners_.end() ? listeners_.emplace_back(*this) : *place;
  own.opened = opened;
  own.descriptor = opened.descriptor;
  return ListenerId{index};
}

Address PosixNetwork::listening(ListenerId listener) { return at(listener).opened.address; }

void PosixNetwork::accept(Op& op, ListenerId listener) {
  Listener& own = at(listener);
  ASSERT(own.accept_op == nullptr);
  op.arm();
  own.accept_op = &op;
  queue_attempt(own, EPOLLIN);
}

void PosixNetwork::stop_listening(Op& op, ListenerId listener) {
  Listener& own = at(listener);
  if (own.accept_op != nullptr) loop_.complete(*std::exchange(own.accept_op, nullptr), -ECANCELED);
  loop_.watch(own, own.descriptor, 0);
  listen_sockets_.close(core_, own.opened);
  own.descriptor = -1;
  loop_.post(op);
}

void PosixNetwork::receive(ReceiveOp& op, SocketId socket) {
  Socket& own = at(socket);
  ASSERT(own.receive_op == nullptr);
  op.arm();
  op.data = {};
  own.receive_op = own.lent = &op;
  queue_attempt(own, EPOLLIN);
}

void PosixNetwork::receive_into(Op& op, SocketId socket, std::span<std::byte> into) {
  Socket& own = at(socket);
  ASSERT(own.receive_op == nullptr && !into.empty());
  op.arm();
  own.receive_op = &op;
  own.lent = nullptr;
  own.into = into;
  queue_attempt(own, EPOLLIN);
}

void PosixNetwork::send(Op& op, SocketId socket, std::span<const Slice> pieces) {
  Socket& own = at(socket);
  ASSERT(own.send_op == nullptr);
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  op.arm();
  own.send_op = &op;
  own.pieces = pieces;
  queue_attempt(own, EPOLLOUT);
}

void PosixNetwork::close(Op& op, SocketId socket) {
  Socket& own = at(socket);
  for (Op** armed : {&own.receive_op, &own.send_op}) {
    if (*armed != nullptr) loop_.complete(*std::exchange(*armed, nullptr), -ECANCELED);
  }
  loop_.watch(own, own.descriptor, 0);
  ::close(std::exchange(own.descriptor, -1));
  closed_sockets_.push_back(own.index);
  loop_.post(op);
}

Address PosixNetwork::local_address(SocketId socket) {
  return local_address_of(at(socket).descriptor);
}

Address PosixNetwork::peer_address(SocketId socket) {
  return peer_address_of(at(socket).descriptor);
}

PosixNetwork::Listener& PosixNetwork::at(ListenerId listener) {
  ASSERT(listener.value() >= 0 && static_cast<size_t>(listener.value()) < listeners_.size());
  Listener& own = listeners_[static_cast<size_t>(listener.value())];
  ASSERT(own.descriptor >= 0, "listener {} is closed", listener.value());
  return own;
}

PosixNetwork::Socket& PosixNetwork::at(SocketId socket) {
  ASSERT(socket.value() >= 0 && static_cast<size_t>(socket.value()) < sockets_.size());
  Socket& own = sockets_[static_cast<size_t>(socket.value())];
  ASSERT(own.descriptor >= 0, "socket {} is closed", socket.value());
  return own;
}

PosixNetwork::Socket& PosixNetwork::acquire_socket(int descriptor) {
  if (unused_sockets_.empty()) {
    unused_sockets_.push_back(static_cast<int32_t>(sockets_.size()));
    sockets_.emplace_back(*this).index = unused_sockets_.back();
  }
  Socket& socket = sockets_[static_cast<size_t>(unused_sockets_.back())];
  unused_sockets_.pop_back();
  socket.descriptor = descriptor;
  socket.lent = nullptr;
  return socket;
}

bool PosixNetwork::run_attempts() {
  // Closed before this round: their completions have run from the ready queue.
  unused_sockets_.insert(unused_sockets_.end(), closed_sockets_.begin(), closed_sockets_.end());
  closed_sockets_.clear();
  if (attempts_.empty()) return false;
  std::vector<Entry*> batch;
  batch.swap(attempts_);
  for (Entry* entry : batch) {
    entry->attempt_queued = false;
    if (entry->descriptor >= 0) entry->attempt();
  }
  return true;
}

// When readiness is watched anyway, the kernel says it as soon as a try would succeed.
void PosixNetwork::queue_attempt(Entry& entry, uint32_t readiness) {
  if (entry.attempt_queued || (PosixLoop::interest_of(entry) & readiness) != 0) return;
  entry.attempt_queued = true;
  attempts_.push_back(&entry);
}

void PosixNetwork::want(Entry& entry, uint32_t readiness) {
  loop_.watch(entry, entry.descriptor, PosixLoop::interest_of(entry) | readiness);
}

void PosixNetwork::Listener::on_events(uint32_t) {
  if (descriptor < 0) return;
  if (accept_op != nullptr) return network.try_accept(*this);
  network.loop_.watch(*this, descriptor, 0);
}

void PosixNetwork::Socket::attempt() {
  if (receive_op != nullptr) network.try_receive(*this);
  if (descriptor >= 0 && send_op != nullptr) network.try_send(*this);
}

void PosixNetwork::Socket::on_events(uint32_t events) {
  if (descriptor < 0) return;
  const bool broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
  uint32_t needless = 0;
  if (receive_op == nullptr && (broken || (events & EPOLLIN) != 0)) needless |= EPOLLIN;
  if (send_op == nullptr && (broken || (events & EPOLLOUT) != 0)) needless |= EPOLLOUT;
  const uint32_t interest = PosixLoop::interest_of(*this);
  network.loop_.watch(*this, descriptor, interest & ~needless);
  if (receive_op != nullptr && (broken || (events & EPOLLIN) != 0)) network.try_receive(*this);
  if (descriptor < 0) return;
  if (send_op != nullptr && (broken || (events & EPOLLOUT) != 0)) network.try_send(*this);
}

void PosixNetwork::try_accept(Listener& listener) {
  if (listener.accept_op == nullptr) return;
  const int descriptor =
      ::accept4(listener.descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) {
    return want(listener, EPOLLIN);
  }
  finish(listener.accept_op, descriptor < 0 ? -errno : acquire_socket(descriptor).index);
}

void PosixNetwork::try_receive(Socket& socket) {
  const bool lent = socket.lent != nullptr;
  std::byte* const into = lent ? buffer_.get() : socket.into.data();
  const size_t room = lent ? kBufferSize : std::min(socket.into.size(), kTransferMax);
  const ssize_t size = ::recv(socket.descriptor, into, room, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return want(socket, EPOLLIN);
  if (lent && size > 0) socket.lent->data = {into, static_cast<size_t>(size)};
  socket.lent = nullptr;
  finish(socket.receive_op, size < 0 ? -errno : static_cast<int32_t>(size));
}

void PosixNetwork::try_send(Socket& socket) {
  msghdr message{};
  message.msg_iov = reinterpret_cast<iovec*>(const_cast<Slice*>(socket.pieces.data()));
  message.msg_iovlen = socket.pieces.size();
  const ssize_t size = ::sendmsg(socket.descriptor, &message, MSG_NOSIGNAL);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return want(socket, EPOLLOUT);
  const auto sent = std::min<ssize_t>(size, INT32_MAX);
  finish(socket.send_op, sent < 0 ? -errno : static_cast<int32_t>(sent));
}

}  // namespace weir::io::posix
