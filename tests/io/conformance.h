#pragma once
// What the conformance tests share: a world per back end, and straight-line code on its cores.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/core_io.h"
#include "io/posix/posix_platform.h"
#include "io/sim/sim_world.h"
#include "io/uring/uring_platform.h"
#include "tests/io/real_peer.h"

namespace weir::io::test {

// A platform with an empty data directory and peers to talk to.
class World {
 public:
  virtual ~World() = default;
  virtual Platform& platform() = 0;
  virtual std::string directory() = 0;
  virtual std::unique_ptr<Peer> make_peer() = 0;
  virtual bool real() const = 0;
};

class RealWorld final : public World {
 public:
  explicit RealWorld(std::unique_ptr<Platform> platform) : platform_(std::move(platform)) {
    // Not /tmp: it may be memory, which refuses O_DIRECT.
    char path[] = "/var/tmp/weir-io-XXXXXX";
    directory_ = mkdtemp(path);
  }
  ~RealWorld() override {
    platform_.reset();
    std::filesystem::remove_all(directory_);
  }
  Platform& platform() override { return *platform_; }
  std::string directory() override { return directory_; }
  std::unique_ptr<Peer> make_peer() override { return peers_.make(); }
  bool real() const override { return true; }

 private:
  std::string directory_;
  std::unique_ptr<Platform> platform_;
  RealPeers peers_;
};

class SimulatedWorld final : public World {
 public:
  explicit SimulatedWorld(uint16_t cores) : world_(7, {.core_count = cores}) {}
  Platform& platform() override { return world_.platform(); }
  std::string directory() override { return "/data"; }
  std::unique_ptr<Peer> make_peer() override {
    return std::make_unique<SimulatedPeer>(world_.network());
  }
  bool real() const override { return false; }
  sim::Scheduler& scheduler() { return world_.scheduler(); }

 private:
  class SimulatedPeer final : public Peer, private sim::SimClient::Handler {
   public:
    explicit SimulatedPeer(sim::NetworkMedia& media) : client_(media, *this) {}
    void connect(const Address& address) override { client_.connect(address); }
    void send(std::vector<std::byte> bytes) override { client_.send(bytes); }
    void close() override { client_.close(); }
    void reset() override { client_.reset(); }
    void set_reading(bool reading) override { client_.set_reading(reading); }
    bool connected() override { return client_.connected(); }
    bool gone() override { return gone_; }
    size_t received_size() override { return client_.received().size(); }
    std::vector<std::byte> take_received() override {
      const auto view = client_.received().view();
      std::vector<std::byte> bytes(view.begin(), view.end());
      client_.received().drop(bytes.size());
      return bytes;
    }

   private:
    void on_closed() override { gone_ = true; }
    sim::SimClient client_;
    bool gone_ = false;
  };
  sim::SimWorld world_;
};

struct Backend {
  const char* name;
  std::function<base::Result<std::unique_ptr<Platform>>(const PlatformOptions&)> make;  // null: sim
};

inline std::unique_ptr<World> make_world(const Backend& backend, uint16_t cores) {
  if (!backend.make) return std::make_unique<SimulatedWorld>(cores);
  auto platform = backend.make({.cores = cores, .pin = false});
  if (!platform) {
    ADD_FAILURE() << backend.name << ": " << platform.error().detail;
    return nullptr;
  }
  return std::make_unique<RealWorld>(std::move(*platform));
}

inline Backend uring_without(const char* name, bool uring::Denied::*feature) {
  return {name, [feature](const PlatformOptions& options) {
            uring::Denied denied;
            if (feature != nullptr) denied.*feature = true;
            if (feature == &uring::Denied::coop_taskrun) denied.defer_taskrun = true;
            return uring::make_platform(options, denied);
          }};
}

inline std::vector<Backend> all_backends() {
  return {
      uring_without("uring", nullptr),
      uring_without("uring_coop_taskrun", &uring::Denied::defer_taskrun),
      uring_without("uring_plain", &uring::Denied::coop_taskrun),
      uring_without("uring_no_registered_ring", &uring::Denied::registered_ring),
      uring_without("uring_no_buffer_ring", &uring::Denied::buffer_ring),
      uring_without("uring_no_message_ring", &uring::Denied::message_ring),
      uring_without("uring_no_file_operations", &uring::Denied::file_operations),
      uring_without("uring_no_dsync", &uring::Denied::dsync),
      uring_without("uring_no_direct", &uring::Denied::direct),
      uring_without("uring_no_awaited_writes", &uring::Denied::awaited_writes),
      {"posix", [](const PlatformOptions& options) { return posix::make_platform(options); }},
      {"posix_no_dsync",
       [](const PlatformOptions& options) {
         return posix::make_platform(options, {.dsync = true, .direct = true});
       }},
      {"sim", nullptr},
  };
}

// An operation of straight-line code.
struct Call {
  Call() { op.bind<&Call::on_done>(*this); }
  void on_done(Op&) { ++runs; }
  int32_t wait(CoreIo& io) {
    if (op.armed()) io.loop.run_until(op);
    return op.result();
  }
  Op op;
  int runs = 0;
};

// A receive whose bytes are copied while they are there.
struct Receive {
  Receive() { op.bind<&Receive::on_done>(*this); }
  void on_done(Op&) { bytes.assign(op.data.begin(), op.data.end()); }
  int32_t wait(CoreIo& io) {
    if (op.armed()) io.loop.run_until(op);
    return op.result();
  }
  ReceiveOp op;
  std::vector<std::byte> bytes;
};

// Lets the core work for a while.
struct Pause {
  Pause() {
    timer.bind<&Pause::on_timer>(*this);
    op.bind<&Pause::on_done>(*this);
  }
  void wait(CoreIo& io, int64_t duration_ns) {
    op.arm();
    io.loop.timers().arm_after(timer, duration_ns);
    io.loop.run_until(op);
  }
  void on_timer() { op.run(); }
  void on_done(Op&) {}
  Timer timer;
  Op op;
};

// False: it did not come true within ten seconds.
inline bool wait_until(CoreIo& io, const std::function<bool()>& predicate) {
  Pause pause;
  const Instant end = io.clock.now() + 10'000'000'000;
  while (!predicate()) {
    if (io.clock.now() > end) return false;
    pause.wait(io, 1'000'000);
  }
  return true;
}

// Runs `body` on every core at its start, then stops the core.
class Script final : public Platform::CoreMain {
 public:
  explicit Script(std::function<void(CoreIo&)> body) : body_(std::move(body)) {}
  void on_core_start(CoreIo& io) override {
    body_(io);
    io.loop.stop();
  }
  void on_stop_request(CoreIo&) override {}
  void on_core_stop(CoreIo&) override {}

 private:
  std::function<void(CoreIo&)> body_;
};

class Conformance : public testing::TestWithParam<Backend> {
 protected:
  void run(uint16_t cores, std::function<void(World&, CoreIo&)> body) {
    const auto world = make_world(GetParam(), cores);
    ASSERT_NE(world, nullptr);
    Script script([&](CoreIo& io) { body(*world, io); });
    const auto status = world->platform().run(script);
    EXPECT_TRUE(status) << status.error().detail;
  }
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}

// Bytes that tell where they belong.
inline std::vector<std::byte> pattern(size_t size, size_t start = 0) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t at = start + i;
    bytes[i] = static_cast<std::byte>(at ^ (at >> 8) * 31 ^ (at >> 16) * 7);
  }
  return bytes;
}

// Memory for direct files.
struct Block {
  explicit Block(size_t size)
      : bytes(static_cast<std::byte*>(std::aligned_alloc(kBlockSize, size)), size) {}
  ~Block() { std::free(bytes.data()); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::span<std::byte> bytes;
};

}  // namespace weir::io::test
