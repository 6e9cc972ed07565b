#pragma once
// ManualCore: one core whose loop and clock move only when a test says so. For units that need
// loop, timers, mailboxes, clock and random, but neither disk nor network; the simulator is for
// those.

#include <deque>

#include "io/base/random.h"
#include "io/core_io.h"

namespace weir::test {

class ManualClock final : public io::Clock {
 public:
  io::Instant now() override { return {now_ns_}; }
  int64_t wall_ms() override { return wall_base_ms_ + now_ns_ / 1'000'000; }
  void advance_to(io::Instant instant) { now_ns_ = std::max(now_ns_, instant.ns); }
  void jump_wall_ms(int64_t by) { wall_base_ms_ += by; }

 private:
  int64_t now_ns_ = 1'000'000'000;
  int64_t wall_base_ms_ = 1'700'000'000'000;
};

class ManualMailboxes final : public io::Mailboxes {
 public:
  ManualMailboxes() : Mailboxes(io::CoreIndex(0)) {}
  bool deliver_all() {
    bool any = false;
    for (; !on_way_.empty(); any = true) {
      io::Message& message = *on_way_.front();
      on_way_.pop_front();
      deliver(message);
    }
    return any;
  }
  // The crash: the message never comes back.
  static void drop(io::Message& message) { abandon(message); }
  void drop_all() { on_way_.clear(); }

 protected:
  void transport(io::CoreIndex, io::Message& message) override { on_way_.push_back(&message); }

 private:
  std::deque<io::Message*> on_way_;
};

class ManualLoop final : public io::Loop {
 public:
  ManualLoop(ManualClock& clock, ManualMailboxes& mailboxes)
      : Loop(clock), clock_(clock), mailboxes_(mailboxes) {}
  void run() override {}
  void stop() override {}
  void run_until(io::Op& op) override {
    while (op.armed()) turn();
  }

  // Everything that can happen at this moment.
  void turn() {
    do {
      while (run_ready() || mailboxes_.deliver_all() || timers().fire_due() > 0) {
      }
    } while (run_turn_end());
  }
  // Moves time from deadline to deadline, calling `between` after each turn.
  template <class Function>
  void advance_ms(int64_t ms, Function between) {
    const io::Instant end = clock_.now() + ms * 1'000'000;
    for (;;) {
      turn();
      between();
      const auto next = timers().next_deadline();
      if (!next || *next > end) break;
      clock_.advance_to(*next);
    }
    clock_.advance_to(end);
    turn();
    between();
  }
  void abandon() { abandon_ready(); }

 private:
  ManualClock& clock_;
  ManualMailboxes& mailboxes_;
};

class ManualRandom final : public io::Random {
 public:
  explicit ManualRandom(uint64_t seed) : stream_(seed) {}
  uint64_t next() override { return stream_.next(); }

 private:
  base::RandomStream stream_;
};

// The machine of a test without files and sockets: who asks for one stops the test.
struct NoMachine {
  template <class T>
  static T& none() {
    alignas(std::max_align_t) static std::byte nothing[sizeof(void*)];
    return *reinterpret_cast<T*>(nothing);
  }
};

struct ManualCore {
  explicit ManualCore(uint64_t seed = 1) : random(seed) {}
  ManualClock clock;
  ManualMailboxes mailboxes;
  ManualLoop loop{clock, mailboxes};
  ManualRandom random;
  io::CoreIo io{.index = io::CoreIndex(0),
                .core_count = 1,
                .loop = loop,
                .disk = NoMachine::none<io::Disk>(),
                .network = NoMachine::none<io::Network>(),
                .clock = clock,
                .mailboxes = mailboxes,
                .random = random};
};

}  // namespace weir::test
