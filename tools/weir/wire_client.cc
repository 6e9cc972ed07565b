#include "tools/weir/wire_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/broker/config.h"
#include "engine/wire/header.h"
#include "engine/wire/limits.h"
#include "engine/wire/messages/api_versions.h"
#include "io/base/bytes.h"

namespace weir::tools {
namespace {

constexpr int kAnswerTimeout_s = 60;
constexpr size_t kSizeFieldSize = 4;

// Connects to one address; -1 and errno.
int connect_to(const io::Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  if (const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    fail("{}: {}", address.host, gai_strerror(error));
  }
  int connected = -1;
  int error_number = 0;
  for (const addrinfo* info = found; info != nullptr && connected < 0; info = info->ai_next) {
    const int fd = ::socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    if (::connect(fd, info->ai_addr, info->ai_addrlen) == 0) {
      connected = fd;
    } else {
      error_number = errno;
      ::close(fd);
    }
  }
  freeaddrinfo(found);
  errno = error_number;
  return connected;
}

void set_options(int socket) {
  const timeval timeout{.tv_sec = kAnswerTimeout_s, .tv_usec = 0};
  const int one = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

}  // namespace

WireClient::WireClient(const std::string& bootstrap) {
  const auto addresses = broker::parse_addresses(bootstrap);
  if (!addresses) fail_usage("--bootstrap: {}", addresses.error().detail);
  for (const io::Address& address : *addresses) {
    peer_ = fmt::format("{}:{}", address.host, address.port);
    socket_ = connect_to(address);
    if (socket_ >= 0) break;
  }
  if (socket_ < 0) {
    fail("no broker answers at {} ({}); start one with 'weir serve', or name another with "
         "--bootstrap HOST:PORT or WEIR_BOOTSTRAP",
         bootstrap, std::strerror(errno));
  }
  set_options(socket_);
  learn_versions();
}

WireClient::~WireClient() {
  if (socket_ >= 0) ::close(socket_);
}

void WireClient::learn_versions() {
  newest_version_[static_cast<int16_t>(wire::ApiKey::api_versions)] = 0;
  const auto answer = call<wire::ApiVersionsResponse>(wire::ApiVersionsRequest{});
  check(answer->error_code, "ApiVersions");
  for (const auto& api : answer->api_keys) newest_version_[api.api_key] = api.max_version;
}

int16_t WireClient::version(wire::ApiKey api, int16_t version_max) const {
  const wire::ApiInfo& info = wire::api_info(api);
  const auto found = newest_version_.find(static_cast<int16_t>(api));
  const int16_t newest =
      found == newest_version_.end()
          ? int16_t{-1}
          : std::min({found->second, info.max_version, version_max});
  if (newest < info.min_version) fail("the broker at {} does not serve {}", peer_, info.name);
  return newest;
}

void WireClient::send(wire::Pieces frame) {
  if (frame.empty()) fail("the request is too large");
  for (wire::Bytes piece : frame) {
    while (!piece.empty()) {
      const ssize_t sent = ::send(socket_, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) lost(std::strerror(errno));
      piece = piece.subspan(static_cast<size_t>(sent));
    }
  }
}

std::vector<std::byte> WireClient::receive(wire::ApiKey api, int16_t version,
                                           size_t& body_position) {
  std::byte size_field[kSizeFieldSize];
  receive_exactly(size_field, sizeof size_field);
  const auto size = base::load_be<int32_t>(size_field);
  if (size < 4 || static_cast<uint32_t>(size) > wire::kFrameSizeMax) {
    lost("sent a frame of an impossible size; is it a Kafka-speaking broker?");
  }
  std::vector<std::byte> frame(static_cast<size_t>(size));
  receive_exactly(frame.data(), frame.size());
  const auto header = wire::decode_response_header(frame, api, version, body_position);
  if (!header || *header != correlation_id_) lost("answered another request than the one sent");
  return frame;
}

void WireClient::receive_exactly(std::byte* into, size_t size) {
  while (size > 0) {
    const ssize_t received = ::recv(socket_, into, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      lost(fmt::format("has not answered for {} s", kAnswerTimeout_s));
    }
    if (received < 0) lost(std::strerror(errno));
    if (received == 0) lost("closed the connection; its log says why");
    into += received;
    size -= static_cast<size_t>(received);
  }
}

void WireClient::lost(std::string_view what) const { fail("the broker at {}: {}", peer_, what); }

std::string describe_error(int16_t code, wire::NullableString message) {
  const std::string_view name = model::name(static_cast<model::ErrorCode>(code));
  if (!message.has_value() || message->empty()) return fmt::format("{} ({})", name, code);
  return fmt::format("{} ({})", *message, name);
}

void check(int16_t code, std::string_view what, wire::NullableString message) {
  if (code != 0) fail("{}: {}", what, describe_error(code, message));
}

}  // namespace weir::tools
