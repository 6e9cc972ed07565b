#include "io/uring/uring_network.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/uring/compat.h"

namespace weir::io::uring {

namespace {

void complete(Op*& slot, int32_t result) {
  Op& op = *std::exchange(slot, nullptr);
  op.set_result(result);
  op.run();
}

}  // namespace

UringNetwork::UringNetwork(CoreIndex core, Loop& loop, Ring& ring,
                           posix::ListenSockets& listen_sockets)
    : core_(core), loop_(loop), ring_(ring), listen_sockets_(listen_sockets), buffers_(ring) {}

UringNetwork::~UringNetwork() {
  for (Listener& listener : listeners_) {
    if (listener.opened.descriptor >= 0) close_listener(listener);
  }
  for (Socket& socket : sockets_) {
    if (socket.descriptor >= 0) ::close(socket.descriptor);
  }
}

base::Result<ListenerId> UringNetwork::listen(const Address& address) {
  TRY(const auto opened, listen_sockets_.open(core_, address, true));
  const int readiness = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (readiness < 0 || epoll_ctl(readiness, EPOLL_CTL_ADD, opened.descriptor, &event) != 0) {
    const int code = errno;
    if (readiness >= 0) ::close(readiness);
    listen_sockets_.close(core_, opened);
    return base::error(code, "cannot watch a listening socket");
  }
  auto place = std::ranges::find_if(
      listeners_, [](const Listener& listener) { return listener.opened.descriptor < 0; });
  const auto index = static_cast<int32_t>(place - listeners_.begin());
  Listener& own = place == listeners_.end() ? listeners_.emplace_back() : *place;
  own.opened = opened;
  own.readiness = readiness;
  own.network = this;
  own.accept_step = {&own, &UringNetwork::on_accepted};
  return ListenerId{index};
}

Address UringNetwork::listening(ListenerId listener) { return at(listener).opened.address; }

void UringNetwork::accept(Op& op, ListenerId listener) {
  Listener& own = at(listener);
  ASSERT(own.accept_op == nullptr && own.stop_op == nullptr);
  op.arm();
  own.accept_op = &op;
  submit_accept(own);
}

void UringNetwork::stop_listening(Op& op, ListenerId listener) {
  Listener& own = at(listener);
  ASSERT(own.stop_op == nullptr);
  if (own.accept_op == nullptr) {
    close_listener(own);
    loop_.post(op);
    return;
  }
  op.arm();
  own.stop_op = &op;
  cancel(own.accept_step);
}

void UringNetwork::receive(ReceiveOp& op, SocketId socket) {
  Socket& own = at(socket);
  ASSERT(own.receive_op == nullptr && own.close_op == nullptr);
  op.arm();
  op.data = {};
  own.receive_op = own.lent = &op;
  submit_receive(own);
}

void UringNetwork::receive_into(Op& op, SocketId socket, std::span<std::byte> into) {
  Socket& own = at(socket);
  ASSERT(own.receive_op == nullptr && own.close_op == nullptr && !into.empty());
  op.arm();
  own.receive_op = &op;
  own.lent = nullptr;
  own.into = into;
  submit_receive(own);
}

void UringNetwork::send(Op& op, SocketId socket, std::span<const Slice> pieces) {
  Socket& own = at(socket);
  ASSERT(own.send_op == nullptr && own.close_op == nullptr);
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  op.arm();
  own.send_op = &op;
  io_uring_sqe& entry = ring_.next_entry();
  if (pieces.size() == 1) {
    io_uring_prep_send(&entry, own.descriptor, pieces[0].data,
                       std::min(pieces[0].size, kTransferMax), MSG_NOSIGNAL);
  } else {
    // The kernel does not write through iov_base here; iovec is const-less by history.
    own.message = {};
    own.message.msg_iov = reinterpret_cast<iovec*>(const_cast<Slice*>(pieces.data()));
    own.message.msg_iovlen = pieces.size();
    io_uring_prep_sendmsg(&entry, own.descriptor, &own.message, MSG_NOSIGNAL);
  }
  Ring::expect(entry, own.send_step);
}

void UringNetwork::close(Op& op, SocketId socket) {
  Socket& own = at(socket);
  ASSERT(own.close_op == nullptr);
  op.arm();
  own.close_op = &op;
  if (own.receive_op != nullptr) cancel(own.receive_step);
  if (own.send_op != nullptr) cancel(own.send_step);
  submit_close_when_idle(own);
}

Address UringNetwork::local_address(SocketId socket) {
  return posix::local_address_of(at(socket).descriptor);
}

Address UringNetwork::peer_address(SocketId socket) {
  return posix::peer_address_of(at(socket).descriptor);
}

UringNetwork::Listener& UringNetwork::at(ListenerId listener) {
  ASSERT(listener.value() >= 0 && static_cast<size_t>(listener.value()) < listeners_.size());
  Listener& own = listeners_[static_cast<size_t>(listener.value())];
  ASSERT(own.opened.descriptor >= 0, "listener {} is closed", listener.value());
  return own;
}

UringNetwork::Socket& UringNetwork::at(SocketId socket) {
  ASSERT(socket.value() >= 0 && static_cast<size_t>(socket.value()) < sockets_.size());
  Socket& own = sockets_[static_cast<size_t>(socket.value())];
  ASSERT(own.descriptor >= 0, "socket {} is closed", socket.value());
  return own;
}

UringNetwork::Socket& UringNetwork::acquire_socket(int descriptor) {
  if (unused_sockets_.empty()) {
    unused_sockets_.push_back(static_cast<int32_t>(sockets_.size()));
    sockets_.emplace_back();
  }
  const int32_t index = unused_sockets_.back();
  unused_sockets_.pop_back();
  Socket& socket = sockets_[static_cast<size_t>(index)];
  socket = {};
  socket.descriptor = descriptor;
  socket.index = index;
  socket.network = this;
  socket.receive_step = {&socket, &UringNetwork::on_received};
  socket.send_step = {&socket, &UringNetwork::on_sent};
  socket.close_step = {&socket, &UringNetwork::on_closed};
  return socket;
}

void UringNetwork::submit_accept(Listener& listener) {
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_poll_add(&entry, listener.readiness, POLLIN);
  Ring::expect(entry, listener.accept_step);
}

void UringNetwork::submit_receive(Socket& socket) {
  io_uring_sqe& entry = ring_.next_entry();
  if (socket.lent == nullptr) {
    io_uring_prep_recv(&entry, socket.descriptor, socket.into.data(),
                       std::min(socket.into.size(), kTransferMax), 0);
  } else if (buffers_.provided()) {
    io_uring_prep_recv(&entry, socket.descriptor, nullptr, ReceiveBuffers::kSize, 0);
    entry.flags |= IOSQE_BUFFER_SELECT;
    entry.buf_group = ReceiveBuffers::kGroup;
    // A connection that has just been read empty: waiting first saves an attempt in vain.
    if (!socket.more_expected) entry.ioprio |= IORING_RECVSEND_POLL_FIRST;
  } else {
    io_uring_prep_poll_add(&entry, socket.descriptor, POLLIN);
  }
  Ring::expect(entry, socket.receive_step);
}

// The target completes by itself, cancelled or not, and only that is waited for.
void UringNetwork::cancel(Step& step) {
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_cancel64(&entry, Ring::user_data_of(step), 0);
  Ring::expect_nothing(entry);
}

void UringNetwork::close_listener(Listener& listener) {
  listen_sockets_.close(core_, listener.opened);
  listener.opened = {-1, {}};
  ::close(std::exchange(listener.readiness, -1));
}

void UringNetwork::submit_close_when_idle(Socket& socket) {
  if (socket.close_op == nullptr || socket.close_submitted) return;
  if (socket.receive_op != nullptr || socket.send_op != nullptr) return;
  socket.close_submitted = true;
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_close(&entry, socket.descriptor);
  Ring::expect(entry, socket.close_step);
}

void UringNetwork::on_accepted(void* owner, Step&, int32_t result, uint32_t) {
  auto& listener = *static_cast<Listener*>(owner);
  UringNetwork& self = *listener.network;
  if (result >= 0 && listener.stop_op == nullptr) {
    const int descriptor =
        accept4(listener.opened.descriptor, nullptr, nullptr, SOCK_CLOEXEC);
    // Gone again before it was taken: wait for the next one.
    if (descriptor < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) {
      return self.submit_accept(listener);
    }
    result = descriptor < 0 ? -errno : self.acquire_socket(descriptor).index;
  } else if (result >= 0) {
    result = -ECANCELED;
  }
  complete(listener.accept_op, result);
  if (listener.stop_op == nullptr) return;
  self.close_listener(listener);
  complete(listener.stop_op, 0);
}

void UringNetwork::on_received(void* owner, Step&, int32_t result, uint32_t flags) {
  auto& socket = *static_cast<Socket*>(owner);
  UringNetwork& self = *socket.network;
  const bool took_buffer = (flags & IORING_CQE_F_BUFFER) != 0;
  const auto index = static_cast<uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
  socket.more_expected = (flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
  if (socket.lent != nullptr) {
    if (!self.buffers_.provided() && result >= 0) result = self.receive_polled(socket);
    // Out of buffers: completions of this very round hold them all; they are back before the
    // submit.
    if (result == -ENOBUFS || result == -EAGAIN) {
      if (socket.close_op == nullptr) return self.submit_receive(socket);
      result = -ECANCELED;
    }
    if (result > 0) {
      socket.lent->data = self.buffers_.buffer(took_buffer ? index : 0)
                              .first(static_cast<size_t>(result));
    }
    socket.lent = nullptr;
  }
  complete(socket.receive_op, result);
  if (took_buffer) self.buffers_.give_back(index);
  self.submit_close_when_idle(socket);
}

// Without a buffer ring the completion says only that there is something to receive.
int32_t UringNetwork::receive_polled(Socket& socket) {
  const auto buffer = buffers_.buffer(0);
  const ssize_t size = recv(socket.descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size >= 0) return static_cast<int32_t>(size);
  return errno == EINTR ? -EAGAIN : -errno;
}

void UringNetwork::on_sent(void* owner, Step&, int32_t result, uint32_t) {
  auto& socket = *static_cast<Socket*>(owner);
  complete(socket.send_op, result);
  socket.network->submit_close_when_idle(socket);
}

void UringNetwork::on_closed(void* owner, Step&, int32_t result, uint32_t) {
  auto& socket = *static_cast<Socket*>(owner);
  socket.descriptor = -1;
  socket.network->unused_sockets_.push_back(socket.index);
  complete(socket.close_op, result);
}

}  // namespace weir::io::uring
