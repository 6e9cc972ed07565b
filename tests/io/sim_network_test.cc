// The simulated network: bytes arrive whole and in order, in pieces; resets, half closes, peers
// that never read and crashes look to both ends as they would in life.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "io/base/units.h"
#include "tests/io/sim_support.h"

namespace weir::io::sim {
namespace {

using namespace base;

const Address kAddress{"127.0.0.1", 9092};

// Sends back what it gets, one piece at a time.
class Echo {
 public:
  explicit Echo(SimWorld& world) : network(world.core(0).network) {
    listener = *network.listen(kAddress);
    accept_op.bind<&Echo::on_accept>(*this);
    receive_op.bind<&Echo::on_receive>(*this);
    send_op.bind<&Echo::on_sent>(*this);
    close_op.bind<&Echo::on_closed>(*this);
    network.accept(accept_op, listener);
  }
  void on_accept(Op& op) {
    if (op.result() < 0) {
      ++accept_errors;
      return network.accept(accept_op, listener);
    }
    socket = SocketId(op.result());
    network.receive(receive_op, socket);
  }
  void on_receive(Op& op) {
    last_result = op.result();
    if (op.result() == -ECANCELED) return;
    if (op.result() <= 0) return network.close(close_op, socket);
    ++pieces;
    shown = receive_op.data;
    held.assign(receive_op.data.begin(), receive_op.data.end());
    send();
  }
  void send() {
    slice = {held.data(), held.size()};
    network.send(send_op, socket, std::span(&slice, 1));
  }
  void on_sent(Op& op) {
    if (op.result() < 0) {
      last_result = op.result();
      return network.close(close_op, socket);
    }
    held.erase(held.begin(), held.begin() + op.result());
    if (!held.empty()) send();
    else network.receive(receive_op, socket);
  }
  void on_closed(Op&) { closed = true; }

  Network& network;
  ListenerId listener{};
  SocketId socket = kNoSocket;
  Op accept_op;
  ReceiveOp receive_op;
  Op send_op;
  Op close_op;
  Slice slice;
  std::vector<std::byte> held;
  std::span<const std::byte> shown;
  int pieces = 0;
  int accept_errors = 0;
  int32_t last_result = 1;
  bool closed = false;
};

struct Client : SimClient::Handler {
  explicit Client(SimWorld& world) : client(world.network(), *this) {}
  void on_connected() override { ++connected; }
  void on_closed() override { ++closed; }
  std::string received() { return text_of(client.received().view()); }
  int connected = 0;
  int closed = 0;
  SimClient client;
};

std::string pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  return text;
}

TEST(SimNetwork, EchoesEveryByteInOrder) {
  int pieces = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimOptions options;
    options.faults.short_transfer = 0.9;
    options.socket_buffer_bytes = 1000;
    SimWorld world(seed, options);
    Echo echo(world);
    Client client(world);
    client.client.connect(kAddress);
    const std::string text = pattern(10'000);
    client.client.send(bytes_of(text));  // before the connection is there: sent when it is
    ASSERT_TRUE(world.run_until([&] { return client.received().size() == text.size(); }, 60_s));
    EXPECT_EQ(client.received(), text);
    pieces += echo.pieces;
    world.crash(CrashKind::process_kill);
  }
  EXPECT_GT(pieces, 400);
}

TEST(SimNetwork, HalfCloseReachesTheServerBehindTheData) {
  SimWorld world(1);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("last words"));
  client.client.finish_sending();
  ASSERT_TRUE(world.run_until([&] { return client.closed > 0; }, 10_s));
  EXPECT_EQ(client.received(), "last words");
  EXPECT_EQ(echo.last_result, 0);
  EXPECT_TRUE(echo.closed);
  EXPECT_EQ(world.network().connection_count(), 0u);
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, RefusesWhereNobodyListens) {
  SimWorld world(1);
  Client client(world);
  client.client.connect({"127.0.0.1", 1});
  ASSERT_TRUE(world.run_until([&] { return client.closed > 0; }, 10_s));
  EXPECT_EQ(client.connected, 0);
  EXPECT_TRUE(client.client.idle());
}

TEST(SimNetwork, ResetIsSeenByTheServer) {
  SimWorld world(1);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("x"));
  ASSERT_TRUE(world.run_until([&] { return echo.pieces > 0; }, 10_s));
  client.client.reset();
  ASSERT_TRUE(world.run_until([&] { return echo.closed; }, 10_s));
  EXPECT_LT(echo.last_result, 0);
  EXPECT_EQ(client.closed, 0) << "own resets are not told";
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, SeededResetsReachBothSides) {
  SimOptions options;
  options.faults.reset = 1;
  SimWorld world(1, options);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("x"));
  ASSERT_TRUE(world.run_until([&] { return client.closed > 0 && echo.closed; }, 10_s));
  EXPECT_EQ(echo.last_result, -ECONNRESET);
  world.crash(CrashKind::process_kill);
}

// A peer that never reads stops the server's sends once the buffers between them are full.
TEST(SimNetwork, PeerThatDoesNotReadPushesBack) {
  SimOptions options;
  options.socket_buffer_bytes = 1000;
  SimWorld world(1, options);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.set_reading(false);
  const std::string text = pattern(50'000);
  client.client.send(bytes_of(text));
  world.run_for(10_s);
  EXPECT_TRUE(echo.send_op.armed());
  EXPECT_GT(client.client.unsent(), 40'000u);
  client.client.set_reading(true);
  ASSERT_TRUE(world.run_until([&] { return client.received().size() == text.size(); }, 60_s));
  EXPECT_EQ(client.received(), text);
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, AcceptErrorsComeAndGo) {
  SimOptions options;
  options.faults.accept_error = 0.8;
  SimWorld world(2, options);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("x"));
  ASSERT_TRUE(world.run_until([&] { return client.received() == "x"; }, 10_s));
  EXPECT_GT(echo.accept_errors, 0);
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, ReceivedMemoryIsPoisonedAfterTheTurn) {
  SimWorld world(2);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("x"));
  ASSERT_TRUE(world.run_until([&] { return echo.pieces > 0; }, 10_s));
  EXPECT_EQ(echo.shown[0], std::byte{0xDB});
  world.crash(CrashKind::process_kill);
}

TEST(SimNetworkDeathTest, SendBufferChangedWhileInFlight) {
  SimWorld world(2);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  client.client.send(bytes_of("xyz"));
  ASSERT_TRUE(world.run_until([&] { return echo.send_op.armed(); }, 10_s));
  echo.held[0] = std::byte{'q'};
  EXPECT_DEATH(world.run_for(1_s), "buffer changed while in flight");
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, CrashHangsUpOnClients) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimWorld world(seed);
    Client reader(world);
    Client sleeper(world);
    {
      Echo echo(world);
      reader.client.connect(kAddress);
      reader.client.send(bytes_of(pattern(3'000)));
      ASSERT_TRUE(world.run_until([&] { return echo.pieces > 0; }, 10_s));
      sleeper.client.connect(kAddress);
      sleeper.client.set_reading(false);
      world.run_for(300_us);
      world.crash(CrashKind::power_cut);
    }
    world.restart(1);
    world.run_for(1_s);
    EXPECT_EQ(reader.closed, 1);
    EXPECT_EQ(sleeper.closed, 1);
    EXPECT_EQ(reader.received(), pattern(3'000).substr(0, reader.received().size()));
    EXPECT_EQ(world.network().connection_count(), 0u);
  }
}

TEST(SimNetwork, CloseCancelsWhatIsArmedFirst) {
  SimWorld world(2);
  Echo echo(world);
  Client client(world);
  client.client.connect(kAddress);
  ASSERT_TRUE(world.run_until([&] { return echo.receive_op.armed(); }, 10_s));
  struct Order {
    std::vector<int32_t> results;
    ReceiveOp receive;
    Op close;
    void on_any(Op& op) { results.push_back(op.result()); }
  } order;
  order.close.bind<&Order::on_any>(order);
  world.core(0).network.close(order.close, echo.socket);
  world.core(0).loop.run_until(order.close);
  EXPECT_EQ(echo.last_result, -ECANCELED);
  world.crash(CrashKind::process_kill);
}

TEST(SimNetwork, ReceiveIntoFillsTheCallersMemory) {
  SimWorld world(2);
  Network& network = world.core(0).network;
  const ListenerId listener = *network.listen({"127.0.0.1", 0});
  Client client(world);
  client.client.connect(network.listening(listener));
  client.client.send(bytes_of("abcdef"));
  const SocketId socket(wait(world, [&](Op& op) { network.accept(op, listener); }));
  std::array<std::byte, 4> into{};
  std::string got;
  while (got.size() < 6) {
    const int32_t size =
        wait(world, [&](Op& op) { network.receive_into(op, socket, into); });
    ASSERT_GT(size, 0);
    got += text_of(std::span(into).first(static_cast<size_t>(size)));
  }
  EXPECT_EQ(got, "abcdef");
  EXPECT_EQ(wait(world, [&](Op& op) { network.close(op, socket); }), 0);
  EXPECT_EQ(wait(world, [&](Op& op) { network.stop_listening(op, listener); }), 0);
}

}  // namespace
}  // namespace weir::io::sim
