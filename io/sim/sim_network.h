#pragma once
// The simulated network. NetworkMedia is every connection with the bytes under way; it belongs to
// the world. SimNetwork is one core's Network over it. Clients are SimClient (sim_client.h).
//
// A connection is two streams. A stream has bytes that fly and bytes that arrived and were not
// taken, both bounded: a peer that does not read stops its sender. Bytes arrive in pieces of seeded
// sizes after seeded delays, in order. A crash cuts each stream at a seeded place and resets the
// connection.

#include <map>
#include <memory>
#include <vector>

#include "io/network.h"
#include "io/sim/byte_fifo.h"
#include "io/sim/faults.h"
#include "io/sim/scheduler.h"

namespace weir::io::sim {

class SimClient;
class SimLoop;
class SimNetwork;

struct SimStream {
  ByteFifo flying;
  ByteFifo arrived;
  bool end_sent = false;     // the sender closed; the end arrives behind the last byte
  bool end_arrived = false;
  bool moving = false;       // a delivery is scheduled
};

struct SimConnection {
  int32_t id = 0;
  Address local;   // as the server sees it
  Address peer;
  SimStream to_server;
  SimStream to_client;
  bool reset = false;

  SimClient* client = nullptr;    // null once it closed
  SimNetwork* server = nullptr;   // null before accept and after close
  bool server_closed = false;
  Op* receive_op = nullptr;
  ReceiveOp* receive_view = nullptr;  // the same op, when it wants a view instead of a copy
  std::span<std::byte> receive_into;
  Op* send_op = nullptr;
  std::span<const Slice> send_pieces;
  uint32_t send_sum = 0;          // checksum of the pieces at submission
  std::vector<std::byte> view;    // what receive_view shows while the completion runs
};

class NetworkMedia : public EventTarget {
 public:
  NetworkMedia(uint64_t seed, Scheduler& scheduler, Faults& faults, size_t buffer_bytes);

  size_t connection_count() const { return connections_.size(); }
  void crash();
  void on_event(uint32_t kind, uint64_t argument) override;

 private:
  friend class SimClient;
  friend class SimNetwork;
  enum class Kind : uint32_t { arrive, to_server, to_client, receive, send, output, hang_up };
  static constexpr size_t kBacklogMax = 128;
  struct Listener {
    Address address;
    SimNetwork* owner = nullptr;
    Op* accept_op = nullptr;
    std::vector<int32_t> backlog;
  };

  void schedule(Kind kind, int32_t connection, int64_t delay_ns);
  void schedule_delivery(SimConnection& connection, Kind direction);
  size_t draw_size(size_t most);
  SimConnection* find(int32_t connection);
  void close_if_done(SimConnection& connection);

  void on_arrive(SimConnection& connection);
  void deliver_piece(SimStream& stream);
  void on_to_server(SimConnection& connection);
  void on_to_client(SimConnection& connection);
  void on_receive(SimConnection& connection);
  void on_send(SimConnection& connection);
  void on_output(SimConnection& connection);
  void hang_up(SimConnection& connection);  // the client learns that the connection is gone
  void reset(SimConnection& connection);  // seen by both sides
  void try_accept(int32_t listener);
  static void finish(Op*& op, SimNetwork& server, int32_t result);
  static uint32_t checksum(std::span<const Slice> pieces);

  Scheduler& scheduler_;
  Faults& faults_;
  base::RandomStream random_;
  const size_t buffer_bytes_;  // of each of the two parts of a stream
  std::map<int32_t, std::unique_ptr<SimConnection>> connections_;
  std::map<int32_t, Listener> listeners_;
  int32_t next_connection_ = 1;
  int32_t next_listener_ = 1;
  uint16_t next_port_ = 40'000;
};

class SimNetwork : public Network {
 public:
  SimNetwork(NetworkMedia& media, SimLoop& loop) : media_(media), loop_(loop) {}

  base::Result<ListenerId> listen(const Address& address) override;
  Address listening(ListenerId listener) override;
  void accept(Op& op, ListenerId listener) override;
  void stop_listening(Op& op, ListenerId listener) override;
  void receive(ReceiveOp& op, SocketId socket) override;
  void receive_into(Op& op, SocketId socket, std::span<std::byte> into) override;
  void send(Op& op, SocketId socket, std::span<const Slice> pieces) override;
  void close(Op& op, SocketId socket) override;
  Address local_address(SocketId socket) override;
  Address peer_address(SocketId socket) override;

  // After each turn: what receive() showed is gone, and whoever kept a pointer to it will notice.
  void poison_received();

 private:
  friend class NetworkMedia;
  SimConnection& connection(SocketId socket);
  void start_receive(Op& op, ReceiveOp* view, SocketId socket, std::span<std::byte> into);

  NetworkMedia& media_;
  SimLoop& loop_;
  std::vector<int32_t> shown_;  // sockets whose view this turn's completions saw
};

}  // namespace weir::io::sim
