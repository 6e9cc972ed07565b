#include "tests/crash/wire_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace weir::crashtest {
namespace {

using simtest::ByteString;
using simtest::Reader;
using simtest::Writer;

constexpr timeval kSocketPatience = {.tv_sec = 60, .tv_usec = 0};
constexpr int32_t kAnswerSizeMax = 256 << 20;
constexpr simtest::Api kDeleteTopics{20};

}  // namespace

WireConnection::WireConnection(uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kSocketPatience, sizeof kSocketPatience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kSocketPatience, sizeof kSocketPatience);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const std::string reason = std::strerror(errno);
    close();
    throw std::runtime_error("cannot connect: " + reason);
  }
}

WireConnection::WireConnection(WireConnection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)) {}

bool WireConnection::send(simtest::Api api, int version, simtest::ByteSpan body) {
  Writer frame;
  frame.i32(0).i16(static_cast<int>(api)).i16(version).i32(0).text("wire").raw(body);
  frame.patch_i32(0, static_cast<int64_t>(frame.size()) - 4);
  const simtest::ByteSpan bytes = frame.view();
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

std::optional<ByteString> WireConnection::receive() {
  std::byte head[8];  // size and correlation id
  if (!receive_whole(head, sizeof head)) return std::nullopt;
  const int32_t size = Reader(head).i32();
  if (size < 4 || size > kAnswerSizeMax) return std::nullopt;
  ByteString body(static_cast<size_t>(size) - 4);
  if (!receive_whole(body.data(), body.size())) return std::nullopt;
  return body;
}

bool WireConnection::receive_whole(std::byte* into, size_t size) {
  while (size > 0) {
    const ssize_t count = ::recv(socket_, into, size, MSG_WAITALL);
    if (count <= 0) return false;
    into += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

void WireConnection::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void WireConnection::reset() {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

ByteString batch_of(const std::string& value) {
  simtest::Record record;
  record.timestamp = 1;
  record.value = value;
  return simtest::encode_batch({}, {&record, 1});
}

std::string create_topic(WireConnection& connection, const std::string& name,
                         int32_t partitions) {
  const auto answer = connection.ask(simtest::Api::create_topics, 2,
                                     simtest::create_topic_request(name, partitions, {}));
  if (!answer) return "no answer";
  Reader body(*answer);
  std::string message;
  const int error = simtest::read_create_topic(body, message);
  return error == 0 ? "" : "error " + std::to_string(error) + " " + message;
}

std::string delete_topic(WireConnection& connection, const std::string& name) {
  Writer request;
  request.i32(1).text(name).i32(60'000);
  const auto answer = connection.ask(kDeleteTopics, 1, request.view());
  if (!answer) return "no answer";
  Reader body(*answer);
  body.i32();  // throttle time
  const bool named = body.count() == 1 && body.text() == name;
  const int error = body.i16();
  if (!named || !body.ok()) return "an answer of another topic";
  return error == 0 ? "" : "error " + std::to_string(error);
}

}  // namespace weir::crashtest
