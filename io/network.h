#pragma once
// Network: byte streams. Transfers may be short; 0 from receive means the peer closed its side.
//
// Ownership: buffers and slice arrays belong to the caller until the completion. At most one
// receive and one send are armed per socket. close() makes armed operations of the socket complete
// (with -ECANCELED or with what they had done); its own completion comes after theirs, and only
// then may the owner go.

#include <cstdint>
#include <span>
#include <string>

#include "io/base/result.h"
#include "io/base/strong_int.h"
#include "io/disk.h"
#include "io/op.h"

namespace weir::io {

using ListenerId = base::StrongInt<struct ListenerIdTag, int32_t>;
using SocketId = base::StrongInt<struct SocketIdTag, int32_t>;
inline constexpr SocketId kNoSocket{-1};

// An IP address in text ("127.0.0.1", "::1") and a port.
struct Address {
  std::string host;
  uint16_t port = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  // Blocking. The port may be 0 (any free one); several cores may listen on the same address.
  virtual base::Result<ListenerId> listen(const Address& address) = 0;
  virtual Address listening(ListenerId listener) = 0;  // with the port that was given
  // One connection a call; result: SocketId value, or -errno (-EMFILE: try again later).
  virtual void accept(Op& op, ListenerId listener) = 0;
  virtual void stop_listening(Op& op, ListenerId listener) = 0;

  // Waits without holding a buffer; data is in memory of the back end while the completion runs.
  virtual void receive(ReceiveOp& op, SocketId socket) = 0;
  // Straight into the caller's memory, at least one byte. Large bodies take this way: one copy
  // less.
  virtual void receive_into(Op& op, SocketId socket, std::span<std::byte> into) = 0;
  virtual void send(Op& op, SocketId socket, std::span<const Slice> pieces) = 0;
  virtual void close(Op& op, SocketId socket) = 0;

  virtual Address local_address(SocketId socket) = 0;
  virtual Address peer_address(SocketId socket) = 0;
};

}  // namespace weir::io
