#pragma once
// KafkaConnection: one TCP connection to a broker, not blocking, for a load worker. Frames go out
// by reference, one at a time; answers come in as whole frames. It knows sizes, not messages.
//
// Made for edge-triggered epoll: receive() takes all there is. A worker's thread owns it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/base/result.h"
#include "io/network.h"

namespace weir::load {

class KafkaConnection {
 public:
  static constexpr int kConnectTimeout_ms = 10'000;
  static constexpr int kSocketBufferSize = 4 << 20;
  static constexpr size_t kFrameSizeMax = size_t{1} << 30;
  static constexpr size_t kPiecesMax = 3;

  using Bytes = std::span<const std::byte>;

  // Blocking. The error says which address and why.
  static base::Result<std::unique_ptr<KafkaConnection>> open(const io::Address& address);
  ~KafkaConnection();
  KafkaConnection(const KafkaConnection&) = delete;
  KafkaConnection& operator=(const KafkaConnection&) = delete;

  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] const std::string& peer() const { return peer_; }

  // Whether a frame is on its way out; send() only while there is none.
  [[nodiscard]] bool sending() const { return piece_ < piece_count_; }
  // At most kPiecesMax pieces, whose bytes live until sending() is false. Sends what the socket
  // takes.
  base::Status send(std::initializer_list<Bytes> pieces);
  // Goes on where the socket was full.
  base::Status flush();

  // Takes what the socket has. An error when the peer closed.
  base::Status receive();
  // The next whole frame without its size field, valid until the next receive(). False: there is
  // none yet.
  base::Result<bool> next_frame(Bytes& frame);

 private:
  KafkaConnection(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) {}
  void make_room(size_t size);
  [[nodiscard]] std::unexpected<base::Error> lost(std::string_view what, int error) const;

  int socket_;
  std::string peer_;  // "host:port"

  std::array<Bytes, kPiecesMax> pieces_{};  // what is left of them
  size_t piece_ = 0;
  size_t piece_count_ = 0;

  static constexpr size_t kBufferSizeFirst = size_t{64} << 10;
  std::unique_ptr<std::byte[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;  // first byte not given out
  size_t end_ = 0;    // one past the last received
};

}  // namespace weir::load
