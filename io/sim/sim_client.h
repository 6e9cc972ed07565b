#pragma once
// SimClient: a client's end of a simulated connection, for tests and workloads. Not part of any
// core and not touched by crashes, except that its connection is reset. Its handler runs from
// events of the world.

#include <span>

#include "io/network.h"
#include "io/sim/byte_fifo.h"

namespace weir::io::sim {

class NetworkMedia;
struct SimConnection;

class SimClient {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_connected() {}
    virtual void on_data() {}
    // The connection is gone: refused, closed by the other side, or reset. Not after own close().
    virtual void on_closed() {}
  };

  SimClient(NetworkMedia& media, Handler& handler) : media_(media), handler_(handler) {}
  ~SimClient();
  SimClient(const SimClient&) = delete;
  SimClient& operator=(const SimClient&) = delete;

  // The client must not be connected. One of the listeners of the port takes the connection.
  void connect(const Address& address);
  void send(std::span<const std::byte> bytes);  // queued without bound at the client
  void finish_sending();                        // half close, behind what was sent
  void close();                                 // both ways; bytes under way to the server still go
  void reset();                                 // both ways, at once
  void set_reading(bool reading);               // false: a peer that never reads

  bool connected() const { return state_ == State::connected; }
  bool idle() const { return state_ == State::idle; }
  ByteFifo& received() { return received_; }  // the user drops what it has read
  size_t unsent() const { return output_.size(); }

 private:
  friend class NetworkMedia;
  enum class State : uint8_t { idle, connecting, connected };
  void detach();

  NetworkMedia& media_;
  Handler& handler_;
  State state_ = State::idle;
  int32_t connection_ = -1;
  ByteFifo output_;
  ByteFifo received_;
  bool reading_ = true;
  bool end_wanted_ = false;
};

}  // namespace weir::io::sim
