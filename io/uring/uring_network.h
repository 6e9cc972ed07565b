#pragma once
// UringNetwork: Network over ring operations.

#include <sys/socket.h>

#include <deque>
#include <vector>

#include "io/loop.h"
#include "io/network.h"
#include "io/posix/listen_sockets.h"
#include "io/uring/receive_buffers.h"
#include "io/uring/ring.h"

namespace weir::io::uring {

// One core's. A ListenerId or SocketId is an index into a table; entries are recycled once closed.
//
// The ring waits on an epoll descriptor over the listening socket and accept4(2) follows: a request
// that held the socket itself would keep the port of a killed process open until the kernel has
// taken the ring apart, tens of milliseconds after the process is gone.
//
// At most one accept per listener, one receive and one send per socket are armed, each as a Step
// inside the table's entry. Accepts and receives are single-shot: a connection or bytes that nobody
// asked for stay in the kernel, which is the back-pressure. close() cancels what is armed, waits
// for those completions, then closes the descriptor and completes.
class UringNetwork final : public Network {
 public:
  UringNetwork(CoreIndex core, Loop& loop, Ring& ring, posix::ListenSockets& listen_sockets);
  ~UringNetwork() override;

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
  struct Listener {
    posix::ListenSockets::Opened opened{-1, {}};  // descriptor -1: free entry
    int readiness = -1;                           // epoll over the listening socket
    Op* accept_op = nullptr;
    Op* stop_op = nullptr;
    Step accept_step;
    UringNetwork* network = nullptr;
  };
  struct Socket {
    int descriptor = -1;  // -1: free entry
    int32_t index = 0;
    UringNetwork* network = nullptr;
    Op* receive_op = nullptr;  // armed; of either kind
    Op* send_op = nullptr;
    Op* close_op = nullptr;
    ReceiveOp* lent = nullptr;      // the armed receive wants memory of ours
    std::span<std::byte> into;      // else: where it goes, the caller's
    bool more_expected = false;     // the kernel said that more bytes wait
    bool close_submitted = false;
    Step receive_step;
    Step send_step;
    Step close_step;
    msghdr message{};  // of the armed send; read by the kernel at submission
  };

  Listener& at(ListenerId listener);
  Socket& at(SocketId socket);
  Socket& acquire_socket(int descriptor);

  void submit_accept(Listener& listener);
  void submit_receive(Socket& socket);
  void cancel(Step& step);
  void close_listener(Listener& listener);
  void submit_close_when_idle(Socket& socket);

  static void on_accepted(void* owner, Step& step, int32_t result, uint32_t flags);
  static void on_received(void* owner, Step& step, int32_t result, uint32_t flags);
  static void on_sent(void* owner, Step& step, int32_t result, uint32_t flags);
  static void on_closed(void* owner, Step& step, int32_t result, uint32_t flags);

  int32_t receive_polled(Socket& socket);

  CoreIndex core_;
  Loop& loop_;
  Ring& ring_;
  posix::ListenSockets& listen_sockets_;
  ReceiveBuffers buffers_;
  std::deque<Listener> listeners_;  // stable addresses
  std::deque<Socket> sockets_;
  std::vector<int32_t> unused_sockets_;
};

}  // namespace weir::io::uring
