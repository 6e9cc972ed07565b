#pragma once
// PosixNetwork: Network over non-blocking sockets and epoll.

#include <deque>
#include <memory>
#include <vector>

#include "io/network.h"
#include "io/posix/listen_sockets.h"
#include "io/posix/posix_loop.h"

namespace weir::io::posix {

// One core's. A ListenerId or SocketId is an index into a table; entries are recycled once closed.
//
// An operation is tried in the completion phase that follows its call; what would block waits for
// readiness. A descriptor stays in the epoll set until readiness is reported that nobody waits for.
// All receives into memory of the back end share one buffer: their completions run one at a time.
class PosixNetwork final : public Network, private Attempts {
 public:
  PosixNetwork(CoreIndex core, PosixLoop& loop, ListenSockets& listen_sockets);
  ~PosixNetwork() override;

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

 private:
  struct Entry : Watched {
    explicit Entry(PosixNetwork& owner) : network(owner) {}
    virtual void attempt() = 0;
    PosixNetwork& network;
    int descriptor = -1;           // -1: free, or closed in this turn
    bool attempt_queued = false;
  };
  struct Listener final : Entry {
    using Entry::Entry;
    void attempt() override { network.try_accept(*this); }
    void on_events(uint32_t events) override;
    ListenSockets::Opened opened{-1, {}};
    Op* accept_op = nullptr;
  };
  struct Socket final : Entry {
    using Entry::Entry;
    void attempt() override;
    void on_events(uint32_t events) override;
    int32_t index = 0;
    Op* receive_op = nullptr;      // armed; of either kind
    ReceiveOp* lent = nullptr;     // the armed receive wants memory of ours
    std::span<std::byte> into;     // else: where it goes, the caller's
    Op* send_op = nullptr;
    std::span<const Slice> pieces; // of the armed send, the caller's
  };

  Listener& at(ListenerId listener);
  Socket& at(SocketId socket);
  Socket& acquire_socket(int descriptor);

  bool run_attempts() override;
  bool has_attempts() const override { return !attempts_.empty(); }
  void queue_attempt(Entry& entry, uint32_t readiness);

  void try_accept(Listener& listener);
  void try_receive(Socket& socket);
  void try_send(Socket& socket);
  void want(Entry& entry, uint32_t readiness);

  CoreIndex core_;
  PosixLoop& loop_;
  ListenSockets& listen_sockets_;
  std::unique_ptr<std::byte[]> buffer_;
  std::deque<Listener> listeners_;  // stable addresses
  std::deque<Socket> sockets_;
  std::vector<int32_t> unused_sockets_;
  std::vector<int32_t> closed_sockets_;  // unused once their close has completed
  std::vector<Entry*> attempts_;
};

}  // namespace weir::io::posix
