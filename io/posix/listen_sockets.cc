#include "io/posix/listen_sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "io/errors.h"

namespace weir::io::posix {

namespace {

constexpr int kBacklog = 1024;  // connections not yet accepted; the kernel may allow fewer

struct RawAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

std::optional<RawAddress> parse(const Address& address) {
  RawAddress raw;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&raw.storage);
  if (inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    raw.size = sizeof *v4;
    return raw;
  }
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&raw.storage);
  if (inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    raw.size = sizeof *v6;
    return raw;
  }
  return std::nullopt;
}

std::string to_text(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

// 0 or errno.
int turn_on(int descriptor, int level, int option) {
  const int one = 1;
  return setsockopt(descriptor, level, option, &one, sizeof one) == 0 ? 0 : errno;
}

int bind_and_listen(int descriptor, RawAddress& raw, bool follows) {
  // Connections in TIME_WAIT must not hold up a restart.
  if (const int code = turn_on(descriptor, SOL_SOCKET, SO_REUSEADDR)) return code;
  if (follows) {
    if (const int code = turn_on(descriptor, SOL_SOCKET, SO_REUSEPORT)) return code;
  }
  if (bind(descriptor, raw.get(), raw.size) != 0) return errno;
  if (!follows) {
    if (const int code = turn_on(descriptor, SOL_SOCKET, SO_REUSEPORT)) return code;
  }
  if (const int code = turn_on(descriptor, IPPROTO_TCP, TCP_NODELAY)) return code;  // inherited
  return listen(descriptor, kBacklog) == 0 ? 0 : errno;
}

}  // namespace

Address to_address(const sockaddr& raw) {
  char text[INET6_ADDRSTRLEN] = "";
  if (raw.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(raw);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return {text, ntohs(v4.sin_port)};
  }
  if (raw.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(raw);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return {text, ntohs(v6.sin6_port)};
  }
  return {};
}

Address local_address_of(int descriptor) {
  RawAddress raw;
  raw.size = sizeof raw.storage;
  if (getsockname(descriptor, raw.get(), &raw.size) != 0) return {};
  return to_address(*raw.get());
}

Address peer_address_of(int descriptor) {
  RawAddress raw;
  raw.size = sizeof raw.storage;
  if (getpeername(descriptor, raw.get(), &raw.size) != 0) return {};
  return to_address(*raw.get());
}

base::Result<ListenSockets::Opened> ListenSockets::open(CoreIndex core, const Address& address,
                                                        bool non_blocking) {
  auto raw = parse(address);
  if (!raw) {
    return base::error(EINVAL, fmt::format("listen on {}: not an IP address; use for example "
                                           "127.0.0.1 or ::1",
                                           to_text(address)));
  }
  const std::lock_guard guard(mutex_);
  bool follows = false;
  for (const Entry& entry : entries_) {
    if (entry.address.port != address.port || entry.address.host != address.host) continue;
    if (entry.core == core) return failed(Operation::listen, EADDRINUSE, to_text(address));
    follows = true;
  }
  const int type = SOCK_STREAM | SOCK_CLOEXEC | (non_blocking ? SOCK_NONBLOCK : 0);
  const int descriptor = socket(raw->storage.ss_family, type, 0);
  if (descriptor < 0) return failed(Operation::listen, errno, to_text(address));
  if (const int code = bind_and_listen(descriptor, *raw, follows)) {
    ::close(descriptor);
    return failed(Operation::listen, code, to_text(address));
  }
  const Address actual{address.host, local_address_of(descriptor).port};
  entries_.push_back({core, actual});
  return Opened{descriptor, actual};
}

void ListenSockets::close(CoreIndex core, const Opened& socket) {
  const std::lock_guard guard(mutex_);
  ::close(socket.descriptor);
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.core == core && entry.address.port == socket.address.port &&
           entry.address.host == socket.address.host;
  });
}

}  // namespace weir::io::posix
