// The network of every back end: connections with peers outside the process, of all lengths and
// ends.

#include "tests/io/conformance.h"

#include <algorithm>
#include <cerrno>

namespace weir::io::test {
namespace {

class NetworkConformance : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Io, NetworkConformance, testing::ValuesIn(all_backends()), backend_name);

// One accepted connection and its peer.
struct Pair {
  std::unique_ptr<Peer> peer;
  SocketId socket = kNoSocket;
};

ListenerId listen(CoreIo& io, Address address = {"127.0.0.1", 0}) {
  const auto listener = io.network.listen(address);
  EXPECT_TRUE(listener) << listener.error().detail;
  return listener ? *listener : ListenerId{-1};
}

void stop_listening(CoreIo& io, ListenerId listener) {
  Call call;
  io.network.stop_listening(call.op, listener);
  EXPECT_EQ(call.runs, 0);
  EXPECT_EQ(call.wait(io), 0);
}

Pair connect(World& world, CoreIo& io, ListenerId listener) {
  Pair pair{world.make_peer(), kNoSocket};
  Call call;
  io.network.accept(call.op, listener);
  pair.peer->connect(io.network.listening(listener));
  EXPECT_GE(call.wait(io), 0);
  pair.socket = SocketId{call.op.result()};
  EXPECT_TRUE(wait_until(io, [&] { return pair.peer->connected(); }));
  return pair;
}

void close(CoreIo& io, SocketId socket) {
  Call call;
  io.network.close(call.op, socket);
  EXPECT_EQ(call.runs, 0);
  EXPECT_EQ(call.wait(io), 0);
}

// Receives `size` bytes by either call; less at the end of the stream.
std::vector<std::byte> receive_all(CoreIo& io, SocketId socket, size_t size, bool into) {
  std::vector<std::byte> all;
  std::vector<std::byte> buffer(100'000);
  while (all.size() < size) {
    if (into) {
      Call call;
      io.network.receive_into(call.op, socket, buffer);
      const int32_t result = call.wait(io);
      if (result <= 0) break;
      all.insert(all.end(), buffer.begin(), buffer.begin() + result);
    } else {
      Receive receive;
      io.network.receive(receive.op, socket);
      if (receive.wait(io) <= 0) break;
      EXPECT_EQ(receive.bytes.size(), static_cast<size_t>(receive.op.result()));
      all.insert(all.end(), receive.bytes.begin(), receive.bytes.end());
    }
  }
  return all;
}

// Sends all, whatever the kernel takes at a time.
void send_all(CoreIo& io, SocketId socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const Slice piece{bytes.data(), bytes.size()};
    Call call;
    io.network.send(call.op, socket, {&piece, 1});
    const int32_t result = call.wait(io);
    ASSERT_GT(result, 0);
    bytes = bytes.subspan(static_cast<size_t>(result));
  }
}

TEST_P(NetworkConformance, TalksBothWays) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    const Address address = io.network.listening(listener);
    EXPECT_EQ(address.host, "127.0.0.1");
    EXPECT_NE(address.port, 0);
    Pair pair = connect(world, io, listener);
    EXPECT_EQ(io.network.local_address(pair.socket).port, address.port);
    EXPECT_EQ(io.network.peer_address(pair.socket).host, "127.0.0.1");
    EXPECT_NE(io.network.peer_address(pair.socket).port, 0);
    size_t at = 0;
    for (const size_t size : {1u, 100u, 5'000u, 40'000u}) {
      pair.peer->send(pattern(size, at));
      const auto request = receive_all(io, pair.socket, size, size % 3 == 0);
      EXPECT_TRUE(request == pattern(size, at));
      send_all(io, pair.socket, request);
      EXPECT_TRUE(wait_until(io, [&] { return pair.peer->received_size() == size; }));
      EXPECT_TRUE(pair.peer->take_received() == request);
      at += size;
    }
    close(io, pair.socket);
    EXPECT_TRUE(wait_until(io, [&] { return pair.peer->gone(); }));
    stop_listening(io, listener);
  });
}

TEST_P(NetworkConformance, ReceivesLargeRequestsEitherWay) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    Pair pair = connect(world, io, listener);
    const size_t size = world.real() ? 8 << 20 : 1 << 20;
    for (const bool into : {false, true}) {
      pair.peer->send(pattern(size));
      EXPECT_TRUE(receive_all(io, pair.socket, size, into) == pattern(size));
    }
    close(io, pair.socket);
    stop_listening(io, listener);
  });
}

TEST_P(NetworkConformance, SendsManyPieces) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    Pair pair = connect(world, io, listener);
    const auto bytes = pattern(kSlicesMax * 20);
    std::vector<Slice> pieces;
    for (size_t at = 0; at < bytes.size(); at += 20) pieces.push_back({bytes.data() + at, 20});
    size_t sent = 0;
    while (sent < bytes.size()) {
      const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(sent / 20);
      std::vector<Slice> rest(first, pieces.end());
      rest[0] = {rest[0].data + sent % 20, 20 - sent % 20};
      Call call;
      io.network.send(call.op, pair.socket, rest);
      ASSERT_GT(call.wait(io), 0);
      sent += static_cast<size_t>(call.op.result());
    }
    EXPECT_TRUE(wait_until(io, [&] { return pair.peer->received_size() == bytes.size(); }));
    EXPECT_TRUE(pair.peer->take_received() == bytes);
    close(io, pair.socket);
    stop_listening(io, listener);
  });
}

// The reader stops and goes on; meanwhile the sender is held up, not fed from memory without bound.
TEST_P(NetworkConformance, SlowReaderHoldsUpTheSender) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    Pair pair = connect(world, io, listener);
    const std::string backend = GetParam().name;
    size_t size = world.real() ? 16 << 20 : 2 << 20;
    if (backend == "uring" || backend == "posix") size = 64 << 20;
    const auto bytes = pattern(size);
    pair.peer->set_reading(false);
    std::span<const std::byte> rest = bytes;
    bool stalled = false;
    while (!rest.empty()) {
      const Slice piece{rest.data(), rest.size()};
      Call call;
      io.network.send(call.op, pair.socket, {&piece, 1});
      Pause pause;
      if (!stalled) pause.wait(io, 5'000'000);
      if (call.op.armed()) {
        stalled = true;
        pair.peer->set_reading(true);
      }
      ASSERT_GT(call.wait(io), 0);
      rest = rest.subspan(static_cast<size_t>(call.op.result()));
    }
    EXPECT_TRUE(stalled);
    EXPECT_TRUE(wait_until(io, [&] { return pair.peer->received_size() == size; }));
    EXPECT_TRUE(pair.peer->take_received() == bytes);
    close(io, pair.socket);
    stop_listening(io, listener);
  });
}

TEST_P(NetworkConformance, PeerClosesOrResets) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    for (const bool into : {false, true}) {
      for (const bool reset : {false, true}) {
        Pair pair = connect(world, io, listener);
        Receive view;
        Call copy;
        std::byte buffer[100];
        if (into) io.network.receive_into(copy.op, pair.socket, buffer);
        else io.network.receive(view.op, pair.socket);
        if (reset) pair.peer->reset();
        else pair.peer->close();
        const int32_t result = into ? copy.wait(io) : view.wait(io);
        EXPECT_EQ(result, reset ? -ECONNRESET : 0);
        // Sending to nobody ends in an error, not in a signal.
        const auto bytes = pattern(1'000);
        const Slice piece{bytes.data(), bytes.size()};
        int32_t sent = 0;
        EXPECT_TRUE(wait_until(io, [&] {
          Call send;
          io.network.send(send.op, pair.socket, {&piece, 1});
          sent = send.wait(io);
          return sent < 0;
        }));
        EXPECT_TRUE(sent == -EPIPE || sent == -ECONNRESET) << sent;
        close(io, pair.socket);
      }
    }
    stop_listening(io, listener);
  });
}

// Records in which order operations of one socket completed.
struct Recorder {
  Recorder() {
    receive.bind<&Recorder::on_receive>(*this);
    copy.bind<&Recorder::on_receive>(*this);
    send.bind<&Recorder::on_send>(*this);
    close.bind<&Recorder::on_close>(*this);
  }
  void on_receive(Op& op) {
    order += 'r';
    EXPECT_EQ(op.result(), -ECANCELED);
  }
  void on_send(Op& op) {
    order += 's';
    EXPECT_TRUE(op.result() == -ECANCELED || op.result() > 0) << op.result();
  }
  void on_close(Op&) { order += 'c'; }
  ReceiveOp receive;
  Op copy, send, close;
  std::string order;
};

TEST_P(NetworkConformance, CloseComesAfterWhatWasArmed) {
  run(1, [](World& world, CoreIo& io) {
    const ListenerId listener = listen(io);
    const auto bytes = pattern(world.real() ? 32 << 20 : 1 << 20);
    std::byte buffer[100];
    for (int round = 0; round < 4; ++round) {
      Pair pair = connect(world, io, listener);
      pair.peer->set_reading(false);
      Recorder recorder;
      const Slice piece{bytes.data(), bytes.size()};
      if (round % 2 == 0) io.network.receive(recorder.receive, pair.socket);
      else io.network.receive_into(recorder.copy, pair.socket, buffer);
      io.network.send(recorder.send, pair.socket, {&piece, 1});
      // Rounds 0 and 1: closed while the two are not even submitted.
      Pause pause;
      if (round >= 2) pause.wait(io, 5'000'000);
      if (round >= 2 && !recorder.send.armed()) {
        io.network.send(recorder.send, pair.socket, {&piece, 1});
        pause.wait(io, 5'000'000);
      }
      io.network.close(recorder.close, pair.socket);
      EXPECT_TRUE(recorder.close.armed());
      io.loop.run_until(recorder.close);
      EXPECT_FALSE(recorder.receive.armed() || recorder.copy.armed() || recorder.send.armed());
      EXPECT_EQ(recorder.order.back(), 'c') << recorder.order;
      EXPECT_EQ(std::ranges::count(recorder.order, 'r'), 1);
      EXPECT_EQ(std::ranges::count(recorder.order, 'c'), 1);
    }
    stop_listening(io, listener);
  });
}

TEST_P(NetworkConformance, StopListeningCancelsTheAccept) {
  run(1, [](World&, CoreIo& io) {
    const ListenerId listener = listen(io);
    Call accept;
    Call stop;
    io.network.accept(accept.op, listener);
    Pause pause;
    pause.wait(io, 3'000'000);
    io.network.stop_listening(stop.op, listener);
    EXPECT_EQ(stop.wait(io), 0);
    EXPECT_FALSE(accept.op.armed());
    EXPECT_EQ(accept.op.result(), -ECANCELED);
    // The port is free again.
    stop_listening(io, listen(io));
  });
}

TEST_P(NetworkConformance, PortTakenByOthersIsAnError) {
  run(1, [](World& world, CoreIo& io) {
    if (!world.real()) return;
    for (const bool reuse_port : {false, true}) {
      // Even another process that would share the port is a conflict.
      const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const int one = 1;
      if (reuse_port) setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
      sockaddr_in raw{};
      raw.sin_family = AF_INET;
      raw.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof raw;
      ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&raw), size), 0);
      ASSERT_EQ(::listen(other, 1), 0);
      getsockname(other, reinterpret_cast<sockaddr*>(&raw), &size);
      const auto refused = io.network.listen({"127.0.0.1", ntohs(raw.sin_port)});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, EADDRINUSE);
      EXPECT_NE(refused.error().detail.find("EADDRINUSE"), std::string::npos);
      ::close(other);
    }
    EXPECT_EQ(io.network.listen({"localhost", 0}).error().code, EINVAL);
    // Sockets of finished connections do not keep a port from its next owner.
    const ListenerId listener = listen(io);
    const Address address = io.network.listening(listener);
    Pair pair = connect(world, io, listener);
    close(io, pair.socket);
    stop_listening(io, listener);
    stop_listening(io, listen(io, address));
  });
}

// A thousand connections at once on one core, each served by its own small machine.
class EchoServer {
 public:
  EchoServer(CoreIo& io, ListenerId listener) : io_(io), listener_(listener) {
    accept_.bind<&EchoServer::on_accept>(*this);
    io_.network.accept(accept_, listener_);
  }
  size_t accepted() const { return sessions_.size(); }
  size_t closed() const { return closed_; }
  bool accepting() const { return accept_.armed(); }

 private:
  struct Session {
    Session(EchoServer& owner, SocketId id) : server(owner), socket(id) {
      receive.bind<&Session::on_received>(*this);
      send.bind<&Session::on_sent>(*this);
      close.bind<&Session::on_closed>(*this);
      server.io_.network.receive(receive, socket);
    }
    void on_received(Op& op) {
      if (op.result() <= 0) return server.io_.network.close(close, socket);
      bytes.assign(receive.data.begin(), receive.data.end());
      piece = {bytes.data(), bytes.size()};
      server.io_.network.send(send, socket, {&piece, 1});
    }
    void on_sent(Op& op) {
      ASSERT_GT(op.result(), 0);
      piece = {piece.data + op.result(), piece.size - static_cast<size_t>(op.result())};
      if (piece.size > 0) return server.io_.network.send(send, socket, {&piece, 1});
      server.io_.network.receive(receive, socket);
    }
    void on_closed(Op&) { ++server.closed_; }
    EchoServer& server;
    SocketId socket;
    ReceiveOp receive;
    Op send, close;
    std::vector<std::byte> bytes;
    Slice piece;
  };
  void on_accept(Op& op) {
    if (op.result() < 0) return;  // stopped
    sessions_.push_back(std::make_unique<Session>(*this, SocketId{op.result()}));
    io_.network.accept(accept_, listener_);
  }
  CoreIo& io_;
  ListenerId listener_;
  Op accept_;
  std::vector<std::unique_ptr<Session>> sessions_;
  size_t closed_ = 0;
};

TEST_P(NetworkConformance, ServesAThousandConnections) {
  run(1, [](World& world, CoreIo& io) {
    constexpr size_t kCount = 1'000;
    const ListenerId listener = listen(io);
    EchoServer server(io, listener);
    std::vector<std::unique_ptr<Peer>> peers;
    for (size_t i = 0; i < kCount; ++i) {
      peers.push_back(world.make_peer());
      peers.back()->connect(io.network.listening(listener));
      if (i % 100 != 99) continue;  // no more than the backlog takes
      EXPECT_TRUE(wait_until(io, [&] { return server.accepted() == i + 1; }));
    }
    for (size_t round = 0; round < 2; ++round) {
      for (size_t i = 0; i < kCount; ++i) peers[i]->send(pattern(200, i));
      for (size_t i = 0; i < kCount; ++i) {
        ASSERT_TRUE(wait_until(io, [&] { return peers[i]->received_size() == 200; }));
        EXPECT_TRUE(peers[i]->take_received() == pattern(200, i));
      }
    }
    for (auto& peer : peers) peer->close();
    EXPECT_TRUE(wait_until(io, [&] { return server.closed() == kCount; }));
    stop_listening(io, listener);
    EXPECT_FALSE(server.accepting());
  });
}

// Both cores listen on one port; connections arrive at either, none is lost.
class SharedPort final : public Platform::CoreMain {
 public:
  explicit SharedPort(World& world) : world_(world) {}
  void on_core_start(CoreIo& io) override {
    if (io.index.value() == 1) {
      follower_ = &io;
      io.mailboxes.listen<&SharedPort::on_begin>(Port{1}, *this);
      io.mailboxes.listen<&SharedPort::on_end>(Port{2}, *this);
      stop_.bind<&SharedPort::on_stopped>(*this);
      return;
    }
    Pause pause;
    pause.wait(io, 30'000'000);  // the other core listens to messages
    const ListenerId listener = listen(io);
    EchoServer server(io, listener);
    port_ = io.network.listening(listener).port;
    ask(io, Port{1});
    std::vector<std::unique_ptr<Peer>> peers;
    for (int i = 0; i < 50; ++i) {
      peers.push_back(world_.make_peer());
      peers.back()->connect({"127.0.0.1", port_});
      peers.back()->send(pattern(10));
    }
    for (auto& peer : peers) {
      EXPECT_TRUE(wait_until(io, [&] { return peer->received_size() == 10; }));
      peer->close();
    }
    EXPECT_TRUE(wait_until(io, [&] { return server.closed() == server.accepted(); }));
    pause.wait(io, 50'000'000);  // the other core's closes
    ask(io, Port{2});
    EXPECT_EQ(server.accepted() + followers_accepted_, 50u);
    EXPECT_GT(server.accepted(), 0u);
    EXPECT_GT(followers_accepted_, 0u);
    stop_listening(io, listener);
    io.loop.stop();
  }
  void on_stop_request(CoreIo&) override {}
  void on_core_stop(CoreIo&) override {}

 private:
  // Core 0: sends the question and waits for the answer.
  void ask(CoreIo& io, Port port) {
    question_.bind_reply<&SharedPort::on_answer>(*this);
    io.mailboxes.send(CoreIndex{1}, port, question_);
    EXPECT_TRUE(wait_until(io, [&] { return !question_.away(); }));
  }
  void on_answer(Message&) {}
  // Core 1.
  void on_begin(Message& message) {
    listener_ = listen(*follower_, {"127.0.0.1", port_});
    server_ = std::make_unique<EchoServer>(*follower_, listener_);
    follower_->mailboxes.reply(message);
  }
  void on_end(Message& message) {
    ending_ = &message;
    EXPECT_EQ(server_->closed(), server_->accepted());
    follower_->network.stop_listening(stop_, listener_);
  }
  void on_stopped(Op&) {
    followers_accepted_ = server_->accepted();
    server_.reset();
    follower_->mailboxes.reply(*ending_);
    follower_->loop.stop();
  }

  World& world_;
  uint16_t port_ = 0;  // these two travel with the question and its answer
  size_t followers_accepted_ = 0;
  Message question_;
  CoreIo* follower_ = nullptr;
  ListenerId listener_{-1};
  std::unique_ptr<EchoServer> server_;
  Op stop_;
  Message* ending_ = nullptr;
};

TEST_P(NetworkConformance, CoresShareAPort) {
  const auto world = make_world(GetParam(), 2);
  ASSERT_NE(world, nullptr);
  SharedPort main(*world);
  EXPECT_TRUE(world->platform().run(main));
}

}  // namespace
}  // namespace weir::io::test
