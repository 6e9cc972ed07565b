#include "bench/load/kafka_connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::load {
namespace {

constexpr size_t kSizeFieldSize = 4;

// A connected socket, or -errno.
int connect_to(const addrinfo& info) {
  const int fd = ::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  // Before the connection is made: the window is agreed on then.
  const int size = KafkaConnection::kSocketBufferSize;
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  int error = ::connect(fd, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
    socklen_t error_size = sizeof error;
    error = ETIMEDOUT;
    if (::poll(&waiting, 1, KafkaConnection::kConnectTimeout_ms) == 1) {
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    }
  }
  if (error == 0) return fd;
  ::close(fd);
  return -error;
}

}  // namespace

base::Result<std::unique_ptr<KafkaConnection>> KafkaConnection::open(const io::Address& address) {
  std::string peer = fmt::format("{}:{}", address.host, address.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    return base::error(0, fmt::format("{}: {}", peer, ::gai_strerror(error)));
  }
  int result = -EADDRNOTAVAIL;
  for (const addrinfo* info = found; info != nullptr && result < 0; info = info->ai_next) {
    result = connect_to(*info);
  }
  ::freeaddrinfo(found);
  if (result < 0) {
    return base::error(-result, fmt::format("cannot connect to {}: {}", peer,
                                            std::strerror(-result)));
  }
  return std::unique_ptr<KafkaConnection>(new KafkaConnection(result, std::move(peer)));
}

KafkaConnection::~KafkaConnection() { ::close(socket_); }

std::unexpected<base::Error> KafkaConnection::lost(std::string_view what, int error) const {
  return base::error(error, fmt::format("the broker at {}: {}{}{}", peer_, what,
                                        error == 0 ? "" : ": ",
                                        error == 0 ? "" : std::strerror(error)));
}

base::Status KafkaConnection::send(std::initializer_list<Bytes> pieces) {
  ASSERT(!sending() && pieces.size() <= kPiecesMax);
  piece_ = 0;
  piece_count_ = 0;
  for (const Bytes piece : pieces) {
    if (!piece.empty()) pieces_[piece_count_++] = piece;
  }
  return flush();
}

base::Status KafkaConnection::flush() {
  while (sending()) {
    iovec vectors[kPiecesMax];
    size_t count = 0;
    for (size_t i = piece_; i < piece_count_; ++i) {
      vectors[count++] = {const_cast<std::byte*>(pieces_[i].data()), pieces_[i].size()};
    }
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return lost("sending", errno);
    auto left = static_cast<size_t>(sent);
    while (left > 0) {
      const size_t part = std::min(left, pieces_[piece_].size());
      pieces_[piece_] = pieces_[piece_].subspan(part);
      left -= part;
      if (pieces_[piece_].empty()) ++piece_;
    }
  }
  return {};
}

// Room for `size` bytes behind begin_, and some more.
void KafkaConnection::make_room(size_t size) {
  const size_t used = end_ - begin_;
  if (size > capacity_) {
    const size_t capacity = std::max({kBufferSizeFirst, 2 * capacity_, size});
    std::unique_ptr<std::byte[]> grown(new std::byte[capacity]);
    if (used > 0) std::memcpy(grown.get(), buffer_.get() + begin_, used);
    buffer_ = std::move(grown);
    capacity_ = capacity;
  } else if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, used);
  }
  begin_ = 0;
  end_ = used;
}

base::Status KafkaConnection::receive() {
  while (true) {
    if (begin_ == end_) begin_ = end_ = 0;
    size_t wanted = kBufferSizeFirst;
    if (end_ - begin_ >= kSizeFieldSize) {
      const auto size = base::load_be<uint32_t>(buffer_.get() + begin_);
      // An impossible size is next_frame()'s to report.
      if (size <= kFrameSizeMax) wanted = std::max(wanted, size + kSizeFieldSize);
    }
    if (begin_ + wanted > capacity_ || end_ == capacity_) {
      // Whole frames may fill the buffer: double it then.
      make_room(end_ - begin_ >= wanted ? 2 * (end_ - begin_) : wanted);
    }
    const size_t room = capacity_ - end_;
    const ssize_t received = ::recv(socket_, buffer_.get() + end_, room, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (received < 0) return lost("receiving", errno);
    if (received == 0) return lost("closed the connection; its log says why", 0);
    end_ += static_cast<size_t>(received);
    if (static_cast<size_t>(received) < room) return {};
  }
}

base::Result<bool> KafkaConnection::next_frame(Bytes& frame) {
  if (end_ - begin_ < kSizeFieldSize) return false;
  const auto size = base::load_be<uint32_t>(buffer_.get() + begin_);
  if (size < kSizeFieldSize || size > kFrameSizeMax) {
    return lost(fmt::format("sent a frame of {} bytes; is it a Kafka-speaking broker?", size), 0);
  }
  if (end_ - begin_ < kSizeFieldSize + size) return false;
  frame = Bytes(buffer_.get() + begin_ + kSizeFieldSize, size);
  begin_ += kSizeFieldSize + size;
  return true;
}

}  // namespace weir::load
