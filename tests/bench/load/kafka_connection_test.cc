// Frames over a real socket: sent in pieces larger than the socket takes, received in parts and
// several at once; what the peer does wrong is said.

#include "bench/load/kafka_connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "io/base/bytes.h"

namespace weir::load {
namespace {

using Buffer = std::vector<std::byte>;

// The other end: a listener on a free port, and the one connection it takes.
class Peer {
 public:
  Peer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Peer() {
    close();
    ::close(listener_);
  }
  std::unique_ptr<KafkaConnection> connect() {
    auto connection = KafkaConnection::open({"127.0.0.1", port_});
    EXPECT_TRUE(connection) << connection.error().detail;
    socket_ = ::accept(listener_, nullptr, nullptr);
    EXPECT_GE(socket_, 0);
    return *std::move(connection);
  }
  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes = bytes.subspan(static_cast<size_t>(sent));
    }
  }
  Buffer read(size_t size) const {
    Buffer bytes(size);
    size_t done = 0;
    while (done < size) {
      const ssize_t got = ::recv(socket_, bytes.data() + done, size - done, 0);
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  int listener_;
  int socket_ = -1;
  uint16_t port_ = 0;
};

Buffer frame(size_t size, int seed) {
  Buffer bytes(4 + size);
  base::store_be(bytes.data(), static_cast<uint32_t>(size));
  for (size_t i = 0; i < size; ++i) {
    bytes[4 + i] = static_cast<std::byte>(i * 7 + static_cast<size_t>(seed));
  }
  return bytes;
}

// Waits until something can be received, then takes it.
base::Status receive(KafkaConnection& connection) {
  pollfd waiting{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiting, 1, 60'000), 1);
  return connection.receive();
}

Buffer next(KafkaConnection& connection) {
  KafkaConnection::Bytes found;
  while (true) {
    const auto whole = connection.next_frame(found);
    EXPECT_TRUE(whole) << whole.error().detail;
    if (!whole) return {};
    if (*whole) return {found.begin(), found.end()};
    if (auto status = receive(connection); !status) {
      ADD_FAILURE() << status.error().detail;
      return {};
    }
  }
}

Buffer body(const Buffer& whole) { return {whole.begin() + 4, whole.end()}; }

TEST(KafkaConnection, LargeFramesGoOutWhole) {
  Peer peer;
  const auto connection = peer.connect();
  const Buffer first(3, std::byte{1});
  const Buffer second(64 << 20, std::byte{2});
  const Buffer third(5, std::byte{3});
  Buffer got;
  std::thread reader([&] { got = peer.read(first.size() + second.size() + third.size()); });
  ASSERT_TRUE(connection->send({first, second, third}));
  EXPECT_TRUE(connection->sending()) << "the socket took 64 MiB at once";
  while (connection->sending()) {
    pollfd waiting{.fd = connection->descriptor(), .events = POLLOUT, .revents = 0};
    ASSERT_EQ(::poll(&waiting, 1, 60'000), 1);
    ASSERT_TRUE(connection->flush());
  }
  reader.join();
  ASSERT_EQ(got.size(), first.size() + second.size() + third.size());
  EXPECT_EQ(got[2], std::byte{1});
  EXPECT_EQ(got[3], std::byte{2});
  EXPECT_EQ(got.back(), std::byte{3});
}

TEST(KafkaConnection, FramesComeInPartsAndTogether) {
  Peer peer;
  const auto connection = peer.connect();
  const Buffer small = frame(10, 1);
  // Byte by byte.
  for (const std::byte byte : small) {
    peer.write({&byte, 1});
    ASSERT_TRUE(receive(*connection));
  }
  EXPECT_EQ(next(*connection), body(small));
  // Several at once, and the beginning of one that is larger than the buffer.
  const Buffer large = frame(300'000, 2);
  Buffer together;
  for (int i = 0; i < 100; ++i) {
    const Buffer one = frame(1'000, i);
    together.insert(together.end(), one.begin(), one.end());
  }
  together.insert(together.end(), large.begin(), large.end());
  std::thread writer([&] { peer.write(together); });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(next(*connection), body(frame(1'000, i))) << i;
  EXPECT_EQ(next(*connection), body(large));
  writer.join();
}

TEST(KafkaConnection, TheEndAndNonsenseAreErrors) {
  Peer peer;
  {
    const auto connection = peer.connect();
    peer.close();
    const auto status = receive(*connection);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().detail.find("closed"), std::string::npos);
    EXPECT_NE(status.error().detail.find(std::to_string(peer.port())), std::string::npos);
  }
  for (const char* text : {"HTTP/1.1 400 Bad Request", "\0\0\0\3abc"}) {
    const auto connection = peer.connect();
    peer.write(std::as_bytes(std::span(text, 7)));
    ASSERT_TRUE(receive(*connection));
    KafkaConnection::Bytes found;
    const auto whole = connection->next_frame(found);
    ASSERT_FALSE(whole);
    EXPECT_NE(whole.error().detail.find("Kafka"), std::string::npos) << whole.error().detail;
    peer.close();
  }
}

TEST(KafkaConnection, NobodyThereIsNamed) {
  uint16_t port = 0;
  {
    const Peer gone;
    port = gone.port();
  }
  const auto connection = KafkaConnection::open({"127.0.0.1", port});
  ASSERT_FALSE(connection);
  EXPECT_NE(connection.error().detail.find(std::to_string(port)), std::string::npos);
  EXPECT_FALSE(KafkaConnection::open({"no.such.host.invalid", 1}));
}

}  // namespace
}  // namespace weir::load
