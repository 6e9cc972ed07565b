#pragma once
// The other end of a connection in conformance tests. Peer: what tests do with it. RealPeers:
// kernel sockets, served by one thread of the test, so that a test on a core never blocks on its
// own peer.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "io/network.h"

namespace weir::io::test {

// Calls return at once; what they cause is seen through the getters. Destroying it closes.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void connect(const Address& address) = 0;
  virtual void send(std::vector<std::byte> bytes) = 0;
  virtual void close() = 0;
  virtual void reset() = 0;
  virtual void set_reading(bool reading) = 0;
  virtual bool connected() = 0;
  virtual bool gone() = 0;  // closed by the other side, refused or reset
  virtual size_t received_size() = 0;
  virtual std::vector<std::byte> take_received() = 0;
};

class RealPeers {
 public:
  RealPeers() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { serve(); }) {}
  ~RealPeers() {
    {
      const std::lock_guard guard(mutex_);
      ending_ = true;
    }
    signal();
    thread_.join();
    ::close(wake_);
  }

  std::unique_ptr<Peer> make() {
    auto state = std::make_shared<State>();
    {
      const std::lock_guard guard(mutex_);
      states_.push_back(state);
    }
    return std::make_unique<RealPeer>(*this, state);
  }

 private:
  struct State {
    int descriptor = -1;
    bool connecting = false;
    bool connected = false;
    bool gone = false;
    bool reading = true;
    bool dropped = false;  // the test has let go of it
    std::vector<std::byte> unsent;
    std::vector<std::byte> received;
  };

  class RealPeer final : public Peer {
   public:
    RealPeer(RealPeers& host, std::shared_ptr<State> state) : host_(host), state_(state) {}
    ~RealPeer() override {
      close();
      const std::lock_guard guard(host_.mutex_);
      state_->dropped = true;
    }
    void connect(const Address& address) override {
      const std::lock_guard guard(host_.mutex_);
      sockaddr_in raw{};
      raw.sin_family = AF_INET;
      raw.sin_port = htons(address.port);
      inet_pton(AF_INET, address.host.c_str(), &raw.sin_addr);
      state_->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      const int status =
          ::connect(state_->descriptor, reinterpret_cast<sockaddr*>(&raw), sizeof raw);
      if (status != 0 && errno != EINPROGRESS) {
        state_->gone = true;
      } else {
        state_->connecting = true;
      }
      host_.signal();
    }
    void send(std::vector<std::byte> bytes) override {
      const std::lock_guard guard(host_.mutex_);
      state_->unsent.insert(state_->unsent.end(), bytes.begin(), bytes.end());
      host_.signal();
    }
    void close() override { end(false); }
    void reset() override { end(true); }
    void set_reading(bool reading) override {
      const std::lock_guard guard(host_.mutex_);
      state_->reading = reading;
      host_.signal();
    }
    bool connected() override {
      const std::lock_guard guard(host_.mutex_);
      return state_->connected;
    }
    bool gone() override {
      const std::lock_guard guard(host_.mutex_);
      return state_->gone;
    }
    size_t received_size() override {
      const std::lock_guard guard(host_.mutex_);
      return state_->received.size();
    }
    std::vector<std::byte> take_received() override {
      const std::lock_guard guard(host_.mutex_);
      return std::exchange(state_->received, {});
    }

   private:
    void end(bool reset) {
      const std::lock_guard guard(host_.mutex_);
      if (state_->descriptor < 0) return;
      const linger abrupt{.l_onoff = 1, .l_linger = 0};
      if (reset) setsockopt(state_->descriptor, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
      ::close(std::exchange(state_->descriptor, -1));
      host_.signal();
    }
    RealPeers& host_;
    std::shared_ptr<State> state_;
  };

  void signal() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto size = ::write(wake_, &one, sizeof one);
  }

  void serve() {
    for (;;) {
      std::vector<pollfd> polled{{.fd = wake_, .events = POLLIN, .revents = 0}};
      std::vector<std::shared_ptr<State>> owners{nullptr};
      {
        const std::lock_guard guard(mutex_);
        if (ending_) return;
        std::erase_if(states_, [](const auto& state) { return state->dropped; });
        for (const auto& state : states_) {
          if (state->descriptor < 0 || state->gone) continue;
          short events = 0;
          if (state->connecting || !state->unsent.empty()) events |= POLLOUT;
          if (state->connected && state->reading) events |= POLLIN;
          polled.push_back({.fd = state->descriptor, .events = events, .revents = 0});
          owners.push_back(state);
        }
      }
      poll(polled.data(), polled.size(), -1);
      uint64_t count = 0;
      [[maybe_unused]] const auto size = ::read(wake_, &count, sizeof count);
      const std::lock_guard guard(mutex_);
      for (size_t i = 1; i < polled.size(); ++i) {
        if (owners[i]->descriptor == polled[i].fd) advance(*owners[i], polled[i].revents);
      }
    }
  }

  static void advance(State& state, short events) {
    if (events == 0) return;
    if (state.connecting) {
      int code = 0;
      socklen_t size = sizeof code;
      getsockopt(state.descriptor, SOL_SOCKET, SO_ERROR, &code, &size);
      state.connecting = false;
      (code == 0 ? state.connected : state.gone) = true;
      return;
    }
    if ((events & POLLOUT) != 0 && !state.unsent.empty()) {
      const ssize_t size =
          ::send(state.descriptor, state.unsent.data(), state.unsent.size(), MSG_NOSIGNAL);
      if (size > 0) state.unsent.erase(state.unsent.begin(), state.unsent.begin() + size);
      if (size < 0 && errno != EAGAIN) state.gone = true;
    }
    if (!state.reading || (events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
    std::vector<std::byte> buffer(256 << 10);
    const ssize_t size = ::recv(state.descriptor, buffer.data(), buffer.size(), 0);
    const auto bytes = std::span(buffer).first(size > 0 ? static_cast<size_t>(size) : 0);
    state.received.insert(state.received.end(), bytes.begin(), bytes.end());
    if (size == 0 || (size < 0 && errno != EAGAIN)) state.gone = true;
  }

  std::mutex mutex_;  // of everything below and of all states
  std::vector<std::shared_ptr<State>> states_;
  bool ending_ = false;
  int wake_;
  std::thread thread_;
};

}  // namespace weir::io::test
