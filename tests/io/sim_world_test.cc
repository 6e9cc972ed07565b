// The simulated world: same seed, same history; crashes abandon everything and straight-line code
// unwinds; timers, messages and clocks behave as the interfaces say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "io/base/units.h"
#include "tests/io/sim_support.h"

namespace weir::io::sim {
namespace {

using namespace base;

constexpr Port kPort{1};

// Each core writes to its own file, sends a message to the next core after each write, and answers.
class Chatter : public Platform::CoreMain {
 public:
  struct Part {
    CoreIo* io = nullptr;
    Op op;
    Message message;
    Timer timer;
    FileId file = kNoFile;
    std::string text = "chatter";
    Slice slice;
    std::string path;
    int writes = 0;
    int replies = 0;
    int ticks = 0;
    void on_open(Op& done) {
      file = FileId(done.result());
      op.bind<&Part::on_written>(*this);
      write();
    }
    void write() {
      slice = {bytes_of(text).data(), text.size()};
      io->disk.write(op, file, std::span(&slice, 1), static_cast<uint64_t>(writes) * 7,
                     Durability::on_completion);
    }
    void on_written(Op&) {
      ++writes;
      const auto next = static_cast<uint16_t>((io->index.value() + 1) % io->core_count);
      if (!message.away()) io->mailboxes.send(CoreIndex(next), kPort, message);
      if (writes < 20) write();
      else io->loop.stop();
    }
    void on_message(Message& received) { io->mailboxes.reply(received); }
    void on_reply(Message&) { ++replies; }
    void on_timer() {
      ++ticks;
      io->loop.timers().arm_after(timer, 1_ms);
    }
  };

  explicit Chatter(uint16_t cores) : parts(cores) {}
  void on_core_start(CoreIo& io) override {
    Part& part = parts[io.index.value()];
    part.io = &io;
    part.path = "/data/core-" + std::to_string(io.index.value());
    part.op.bind<&Part::on_open>(part);
    part.message.bind_reply<&Part::on_reply>(part);
    part.timer.bind<&Part::on_timer>(part);
    io.mailboxes.listen<&Part::on_message>(kPort, part);
    io.loop.timers().arm_after(part.timer, 1_ms);
    io.disk.open(part.op, part.path.c_str(), {.create = true});
  }
  void on_stop_request(CoreIo& io) override { io.loop.stop(); }
  void on_core_stop(CoreIo&) override { ++stopped; }

  std::vector<Part> parts;
  int stopped = 0;
};

uint64_t chatter_hash(uint64_t seed, uint16_t cores) {
  SimOptions options;
  options.core_count = cores;
  base::RandomStream random(seed, "options");
  options.faults = Faults::draw(random);
  options.faults.interrupted = options.faults.short_write = 0;  // Chatter does not look
  SimWorld world(seed, options);
  Chatter chatter(cores);
  world.start(chatter);
  world.run_until([&] { return world.stopped(); }, 60_s);
  EXPECT_TRUE(world.stopped()) << "seed " << seed;
  EXPECT_EQ(chatter.stopped, cores);
  world.crash(CrashKind::process_kill);
  return world.trace_hash();
}

TEST(SimWorld, SameSeedSameHistory) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto cores = static_cast<uint16_t>(1 + seed % 3);
    EXPECT_EQ(chatter_hash(seed, cores), chatter_hash(seed, cores)) << "seed " << seed;
  }
  EXPECT_NE(chatter_hash(1, 2), chatter_hash(2, 2));
}

TEST(SimWorld, RunsThroughThePlatformInterface) {
  SimOptions options;
  options.core_count = 2;
  SimWorld world(9, options);
  Chatter chatter(2);
  ASSERT_TRUE(world.platform().lock("/data", 0));
  ASSERT_TRUE(world.platform().run(chatter));
  EXPECT_EQ(chatter.stopped, 2);
  EXPECT_GT(chatter.parts[0].replies, 0);
  world.crash(CrashKind::process_kill);
}

// A crash at any event: everything can be destroyed, and the next process starts over the same
// disk.
TEST(SimWorld, CrashAtAnyEvent) {
  for (uint64_t event = 1; event < 120; ++event) {
    SimOptions options;
    options.core_count = 2;
    SimWorld world(event, options);
    world.crash_at_event(event, event % 2 == 0 ? CrashKind::process_kill : CrashKind::power_cut);
    {
      Chatter chatter(2);
      world.start(chatter);
      world.run_until([&] { return world.crashed() || world.stopped(); }, 10_s);
      if (!world.crashed()) world.crash(CrashKind::process_kill);
    }
    world.restart(2);
    ASSERT_TRUE(world.platform().lock("/data", 10'000));
    Chatter again(2);
    world.start(again);
    ASSERT_TRUE(world.run_until([&] { return world.stopped(); }, 60_s)) << "event " << event;
    world.crash(CrashKind::process_kill);
  }
}

TEST(SimWorld, CrashesAreLikelierAtFlushes) {
  SimOptions options;
  options.faults.crash_at_flush = 1;
  options.faults.crash_is_power_cut = 0;
  SimWorld world(4, options);
  Chatter chatter(1);
  world.start(chatter);
  EXPECT_TRUE(world.run_until([&] { return world.crashed(); }, 10_s));
  EXPECT_LE(chatter.parts[0].writes, 2);
}

// Recovery code waits with run_until(); a crash inside it ends every wait with -EIO.
class StraightLine : public Platform::CoreMain {
 public:
  void on_core_start(CoreIo& io) override {
    Waiter first;
    io.disk.open(first.op, "/data/a", {.create = true});
    io.loop.run_until(first.op);
    results.push_back(first.result);
    for (int i = 0; i < 100; ++i) {
      Waiter sync;
      Waiter left;  // never waited for
      io.disk.sync_directory(sync.op, "/data");
      io.loop.run_until(sync.op);
      results.push_back(sync.result);
      EXPECT_TRUE(sync.ran);
      if (sync.result != 0) break;
    }
    Waiter after;
    io.disk.make_directory(after.op, "/data/d");
    io.loop.run_until(after.op);
    results.push_back(after.result);
    returned = true;
  }
  void on_stop_request(CoreIo&) override {}
  void on_core_stop(CoreIo&) override {}
  std::vector<int32_t> results;
  bool returned = false;
};

TEST(SimWorld, StraightLineCodeUnwindsWhenTheProcessDies) {
  SimWorld world(6);
  StraightLine main;
  world.crash_at_event(10, CrashKind::power_cut);
  world.start(main);
  world.run_until([&] { return world.crashed(); }, 10_s);
  EXPECT_TRUE(main.returned);
  ASSERT_GE(main.results.size(), 3u);
  EXPECT_EQ(main.results[main.results.size() - 2], -EIO);
  EXPECT_EQ(main.results.back(), -EIO);
}

TEST(SimWorld, TimersFireInVirtualTime) {
  SimWorld world(1);
  struct Owner {
    Timer timer;
    int fired = 0;
    void on_timer() { ++fired; }
  } owner;
  owner.timer.bind<&Owner::on_timer>(owner);
  const int64_t start = world.now_ns();
  world.core(0).loop.timers().arm_after(owner.timer, 3600_s);
  EXPECT_FALSE(world.run_until([&] { return owner.fired > 0; }, 3599_s));
  EXPECT_TRUE(world.run_until([&] { return owner.fired > 0; }, 10_s));
  EXPECT_GE(world.now_ns() - start, 3600_s);
}

TEST(SimWorld, WallClockJumpsAndMonotonicDoesNot) {
  SimOptions options;
  options.faults.wall_jump = 0.5;
  options.faults.wall_jump_ms = 1'000'000;
  SimWorld world(2, options);
  Clock& clock = world.core(0).clock;
  bool back = false;
  bool forward = false;
  for (int i = 0; i < 50; ++i) {
    const int64_t wall_ms = clock.wall_ms();
    const Instant now = clock.now();
    open_file(world, "/data/a");
    EXPECT_GE(clock.now() - now, 0);
    EXPECT_LT(clock.now() - now, 1_s);
    back = back || clock.wall_ms() < wall_ms;
    forward = forward || clock.wall_ms() > wall_ms + 10'000;
  }
  EXPECT_TRUE(back);
  EXPECT_TRUE(forward);
}

// Messages of one pair of cores arrive in the order they were sent, whatever their delays.
TEST(SimWorld, MessagesKeepTheirOrder) {
  SimOptions options;
  options.core_count = 2;
  options.faults.mailbox_delay_ns = 1'000'000;
  SimWorld world(3, options);
  struct Numbered : Message {
    int number = 0;
  };
  struct Ends {
    Mailboxes* receiver_boxes = nullptr;
    std::vector<int> received;
    int returned = 0;
    void on_message(Message& m) {
      received.push_back(static_cast<Numbered&>(m).number);
      receiver_boxes->reply(m);
    }
    void on_reply(Message&) { ++returned; }
  } ends;
  ends.receiver_boxes = &world.core(1).mailboxes;
  world.core(1).mailboxes.listen<&Ends::on_message>(kPort, ends);
  std::vector<Numbered> messages(100);
  for (int i = 0; i < 100; ++i) {
    messages[static_cast<size_t>(i)].number = i;
    messages[static_cast<size_t>(i)].bind_reply<&Ends::on_reply>(ends);
    world.core(0).mailboxes.send(CoreIndex(1), kPort, messages[static_cast<size_t>(i)]);
  }
  EXPECT_TRUE(world.run_until([&] { return ends.returned == 100; }, 10_s));
  EXPECT_TRUE(std::ranges::is_sorted(ends.received));
}

// Whether it is under way, being worked on by the receiver, or on its way back.
TEST(SimWorld, CrashReturnsMessagesToTheirOwner) {
  for (int stage = 0; stage < 3; ++stage) {
    SimOptions options;
    options.core_count = 2;
    SimWorld world(3, options);
    struct Owner {
      Message message;
      Message* at_receiver = nullptr;
      void on_message(Message& received) { at_receiver = &received; }
      void on_reply(Message&) {}
    } owner;
    owner.message.bind_reply<&Owner::on_reply>(owner);
    world.core(1).mailboxes.listen<&Owner::on_message>(kPort, owner);
    world.core(0).mailboxes.send(CoreIndex(1), kPort, owner.message);
    if (stage > 0) {
      ASSERT_TRUE(world.run_until([&] { return owner.at_receiver != nullptr; }, 1_s));
    }
    if (stage > 1) world.core(1).mailboxes.reply(owner.message);
    EXPECT_TRUE(owner.message.away());
    world.crash(CrashKind::process_kill);
    EXPECT_FALSE(owner.message.away()) << "stage " << stage;
  }
}

TEST(SimWorld, RandomStreamsDifferByCoreAndIncarnation) {
  SimOptions options;
  options.core_count = 2;
  SimWorld world(3, options);
  const uint64_t a = world.core(0).random.next();
  const uint64_t b = world.core(1).random.next();
  world.crash(CrashKind::process_kill);
  world.restart(2);
  const uint64_t c = world.core(0).random.next();
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
}

}  // namespace
}  // namespace weir::io::sim
