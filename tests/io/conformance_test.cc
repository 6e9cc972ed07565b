// The same cases over every back end and every step of its degradation, so that none can drift:
// files, ready queue, timers, messages between cores, stop. The network is in
// network_conformance_test.cc.

#include "tests/io/conformance.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace weir::io::test {
namespace {

class DiskConformance : public Conformance {};
class LoopConformance : public Conformance {};

INSTANTIATE_TEST_SUITE_P(Io, DiskConformance, testing::ValuesIn(all_backends()), backend_name);
INSTANTIATE_TEST_SUITE_P(Io, LoopConformance, testing::ValuesIn(all_backends()), backend_name);

int32_t open(CoreIo& io, const std::string& path, OpenOptions options) {
  Call call;
  io.disk.open(call.op, path.c_str(), options);
  EXPECT_EQ(call.runs, 0) << "a completion ran inside the call";
  return call.wait(io);
}

FileId open_new(CoreIo& io, const std::string& path, bool direct = false) {
  const int32_t result = open(io, path, {.create = true, .exclusive = true, .direct = direct});
  EXPECT_GE(result, 0);
  return FileId{result};
}

void close(CoreIo& io, FileId file) {
  Call call;
  io.disk.close(call.op, file);
  EXPECT_EQ(call.wait(io), 0);
}

int32_t write(CoreIo& io, FileId file, std::span<const Slice> pieces, uint64_t position,
              Durability durability = Durability::none) {
  Call call;
  io.disk.write(call.op, file, pieces, position, durability);
  return call.wait(io);
}

int32_t write(CoreIo& io, FileId file, std::span<const std::byte> bytes, uint64_t position,
              Durability durability = Durability::none) {
  const Slice piece{bytes.data(), bytes.size()};
  return write(io, file, {&piece, 1}, position, durability);
}

int32_t read(CoreIo& io, FileId file, std::span<std::byte> into, uint64_t position) {
  Call call;
  io.disk.read(call.op, file, into, position);
  return call.wait(io);
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

TEST_P(DiskConformance, OpenSaysWhatIsThere) {
  run(1, [](World& world, CoreIo& io) {
    const std::string path = world.directory() + "/file";
    EXPECT_EQ(open(io, path, {}), -ENOENT);
    EXPECT_EQ(open(io, world.directory() + "/no/file", {.create = true}), -ENOENT);
    const FileId file = open_new(io, path);
    EXPECT_EQ(open(io, path, {.create = true, .exclusive = true}), -EEXIST);
    EXPECT_EQ(open(io, path, {.create = true, .exclusive = true, .direct = true}), -EEXIST);
    const int32_t again = open(io, path, {.create = true});
    EXPECT_GE(again, 0);
    EXPECT_EQ(open(io, world.directory(), {}), -EISDIR);
    close(io, FileId{again});
    close(io, file);
  });
}

// The lock belongs to the open file: free again once it is closed and its last write is done.
TEST_P(DiskConformance, ALockedFileIsOpenedLockedOnce) {
  run(1, [](World& world, CoreIo& io) {
    const std::string path = world.directory() + "/file";
    for (const bool direct : {false, true}) {
      const OpenOptions locked{.create = true, .direct = direct, .locked = true};
      const int32_t file = open(io, path, locked);
      ASSERT_GE(file, 0);
      EXPECT_EQ(open(io, path, locked), -EWOULDBLOCK);
      EXPECT_EQ(open(io, path, {.writable = false, .locked = true}), -EWOULDBLOCK);
      const int32_t other = open(io, world.directory() + "/other", locked);
      EXPECT_GE(other, 0) << "another file has another lock";
      const int32_t unlocked = open(io, path, {});
      EXPECT_GE(unlocked, 0) << "who does not ask for the lock is not held up";
      close(io, FileId{unlocked});
      EXPECT_EQ(open(io, path, locked), -EWOULDBLOCK);
      close(io, FileId{file});
      const int32_t again = open(io, path, locked);
      EXPECT_GE(again, 0);
      close(io, FileId{again});
      close(io, FileId{other});
    }
  });
}

TEST_P(DiskConformance, ReadsBackWhatWasWritten) {
  run(1, [](World& world, CoreIo& io) {
    const FileId file = open_new(io, world.directory() + "/file");
    const auto bytes = pattern(10'000);
    EXPECT_EQ(write(io, file, bytes, 0), 10'000);
    std::vector<std::byte> back(10'000);
    EXPECT_EQ(read(io, file, back, 0), 10'000);
    EXPECT_TRUE(same(back, bytes));
    // At the end reads are short, behind it empty.
    EXPECT_EQ(read(io, file, back, 9'000), 1'000);
    EXPECT_TRUE(same(std::span(back).first(1'000), std::span(bytes).subspan(9'000)));
    EXPECT_EQ(read(io, file, back, 20'000), 0);
    // A hole reads as zeros.
    EXPECT_EQ(write(io, file, std::span(bytes).first(1), 30'000), 1);
    EXPECT_EQ(read(io, file, std::span(back).first(5'000), 12'000), 5'000);
    EXPECT_EQ(std::ranges::count(std::span(back).first(5'000), std::byte{0}), 5'000);
    close(io, file);
  });
}

TEST_P(DiskConformance, GathersManyPieces) {
  run(1, [](World& world, CoreIo& io) {
    const FileId file = open_new(io, world.directory() + "/file");
    const auto bytes = pattern(kSlicesMax * (kSlicesMax + 1) / 2);
    std::vector<Slice> pieces;
    size_t at = 0;
    for (size_t size = 1; size <= kSlicesMax; ++size) {
      pieces.push_back({bytes.data() + at, size});
      at += size;
    }
    for (const auto durability :
         {Durability::none, Durability::background, Durability::on_completion,
          Durability::awaited}) {
      EXPECT_EQ(write(io, file, pieces, 77, durability), static_cast<int32_t>(bytes.size()));
      std::vector<std::byte> back(bytes.size());
      EXPECT_EQ(read(io, file, back, 77), static_cast<int32_t>(bytes.size()));
      EXPECT_TRUE(same(back, bytes));
    }
    close(io, file);
  });
}

TEST_P(DiskConformance, ManyDurableDirectWritesInFlight) {
  run(1, [](World& world, CoreIo& io) {
    constexpr size_t kCount = 64;
    constexpr size_t kSize = 2 * kBlockSize;
    const FileId file = open_new(io, world.directory() + "/file", true);
    Block memory(kCount * kSize);
    const auto bytes = pattern(memory.bytes.size());
    std::ranges::copy(bytes, memory.bytes.begin());
    io.disk.register_memory(memory.bytes);
    std::vector<Call> calls(kCount);
    std::vector<Slice> pieces(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      pieces[i] = {memory.bytes.data() + i * kSize, kSize};
      io.disk.write(calls[i].op, file, {&pieces[i], 1}, i * kSize,
                    i % 2 == 0 ? Durability::on_completion : Durability::awaited);
    }
    for (Call& call : calls) EXPECT_EQ(call.wait(io), static_cast<int32_t>(kSize));
    Call sync;
    io.disk.sync(sync.op, file);
    EXPECT_EQ(sync.wait(io), 0);
    Block back(memory.bytes.size());
    EXPECT_EQ(read(io, file, back.bytes, 0), static_cast<int32_t>(back.bytes.size()));
    EXPECT_TRUE(same(back.bytes, bytes));
    close(io, file);
  });
}

TEST_P(DiskConformance, AllocateAndTruncateChangeTheSize) {
  run(1, [](World& world, CoreIo& io) {
    const std::string path = world.directory() + "/file";
    const FileId file = open_new(io, path);
    Call call;
    io.disk.allocate(call.op, file, 0, 1 << 20);
    EXPECT_EQ(call.wait(io), 0);
    EXPECT_EQ(io.disk.info(path)->size, uint64_t{1} << 20);
    std::vector<std::byte> back(100, std::byte{1});
    EXPECT_EQ(read(io, file, back, 5'000), 100);
    EXPECT_EQ(std::ranges::count(back, std::byte{0}), 100);
    io.disk.truncate(call.op, file, 1'000);
    EXPECT_EQ(call.wait(io), 0);
    EXPECT_EQ(io.disk.info(path)->size, 1'000u);
    io.disk.truncate(call.op, file, 3'000);
    EXPECT_EQ(call.wait(io), 0);
    EXPECT_EQ(read(io, file, back, 2'950), 50);
    EXPECT_FALSE(io.disk.info(path)->is_directory);
    close(io, file);
  });
}

TEST_P(DiskConformance, DirectoriesAndNames) {
  run(1, [](World& world, CoreIo& io) {
    const std::string directory = world.directory() + "/topic";
    const std::string a = directory + "/a";
    const std::string b = directory + "/b";
    Call call;
    const auto finish = [&] { return call.wait(io); };
    io.disk.make_directory(call.op, directory.c_str());
    EXPECT_EQ(finish(), 0);
    io.disk.make_directory(call.op, directory.c_str());
    EXPECT_EQ(finish(), -EEXIST);
    for (const std::string& path : {a, b}) {
      const FileId file = open_new(io, path);
      EXPECT_EQ(write(io, file, pattern(path == a ? 10 : 20), 0), path == a ? 10 : 20);
      close(io, file);
    }
    io.disk.sync_directory(call.op, directory.c_str());
    EXPECT_EQ(finish(), 0);
    io.disk.sync_directory(call.op, (directory + "/none").c_str());
    EXPECT_EQ(finish(), -ENOENT);
    io.disk.rename(call.op, a.c_str(), b.c_str());  // replaces b
    EXPECT_EQ(finish(), 0);
    EXPECT_EQ(io.disk.info(b)->size, 10u);
    io.disk.rename(call.op, a.c_str(), b.c_str());
    EXPECT_EQ(finish(), -ENOENT);
    const auto entries = io.disk.list(directory);
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 1u);
    EXPECT_EQ(entries->front().name, "b");
    EXPECT_FALSE(entries->front().is_directory);
    EXPECT_TRUE(io.disk.info(directory)->is_directory);
    io.disk.remove(call.op, directory.c_str());
    EXPECT_EQ(finish(), -ENOTEMPTY);
    io.disk.remove(call.op, b.c_str());
    EXPECT_EQ(finish(), 0);
    io.disk.remove(call.op, b.c_str());
    EXPECT_EQ(finish(), -ENOENT);
    io.disk.remove(call.op, directory.c_str());
    EXPECT_EQ(finish(), 0);
    EXPECT_FALSE(io.disk.info(directory));
    EXPECT_EQ(io.disk.list(directory).error().code, ENOENT);
    EXPECT_GT(*io.disk.free_bytes(world.directory()), 0u);
    EXPECT_GE(*io.disk.total_bytes(world.directory()), *io.disk.free_bytes(world.directory()));
  });
}

TEST_P(DiskConformance, KnowsWhereAnOpenFileIs) {
  run(1, [](World& world, CoreIo& io) {
    const std::string before = world.directory() + "/file";
    const std::string after = world.directory() + "/renamed";
    const FileId file = open_new(io, before);
    EXPECT_EQ(io.disk.path_of(file), before);
    Call call;
    io.disk.rename(call.op, before.c_str(), after.c_str());
    ASSERT_EQ(call.wait(io), 0);
    EXPECT_EQ(io.disk.path_of(file), after);
    close(io, file);
  });
}

// More operations at once than the submission queue has entries.
TEST_P(DiskConformance, TakesMoreThanTheQueueHolds) {
  run(1, [](World& world, CoreIo& io) {
    constexpr size_t kCount = 3'000;
    const FileId file = open_new(io, world.directory() + "/file");
    const auto bytes = pattern(kCount);
    std::vector<Call> calls(kCount);
    std::vector<Slice> pieces(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      pieces[i] = {bytes.data() + i, 1};
      io.disk.write(calls[i].op, file, {&pieces[i], 1}, i, Durability::none);
    }
    for (Call& call : calls) EXPECT_EQ(call.runs, 0);
    for (Call& call : calls) EXPECT_EQ(call.wait(io), 1);
    std::vector<std::byte> back(kCount);
    EXPECT_EQ(read(io, file, back, 0), static_cast<int32_t>(kCount));
    EXPECT_TRUE(same(back, bytes));
    close(io, file);
  });
}

// What was posted runs in order, later posts in a later round; the end of the turn sees all of it.
TEST_P(LoopConformance, PostsRunBeforeTheEndOfTheTurn) {
  struct Recorder {
    void on_first(Op&) {
      seen += "1";
      io->loop.at_turn_end(end);
      io->loop.post(third, 33);
    }
    void on_second(Op&) { seen += "2"; }
    void on_third(Op& op) { seen += op.result() == 33 ? "3" : "?"; }
    void on_end(Op&) { seen += "e"; }
    CoreIo* io = nullptr;
    Op first, second, third, end;
    std::string seen;
  };
  run(1, [](World&, CoreIo& io) {
    Recorder recorder;
    recorder.io = &io;
    recorder.first.bind<&Recorder::on_first>(recorder);
    recorder.second.bind<&Recorder::on_second>(recorder);
    recorder.third.bind<&Recorder::on_third>(recorder);
    recorder.end.bind<&Recorder::on_end>(recorder);
    io.loop.post(recorder.first);
    io.loop.post(recorder.second);
    EXPECT_EQ(recorder.seen, "");
    EXPECT_TRUE(wait_until(io, [&] { return recorder.seen.size() == 4; }));
    EXPECT_EQ(recorder.seen, "123e");
  });
}

TEST_P(LoopConformance, TimersFireInOrderAndNeverEarly) {
  struct Alarm {
    void on_fire() {
      EXPECT_GE(io->clock.now(), deadline);
      order->push_back(id);
    }
    Timer timer;
    CoreIo* io = nullptr;
    Instant deadline;
    int id = 0;
    std::vector<int>* order = nullptr;
  };
  run(1, [](World&, CoreIo& io) {
    std::vector<int> order;
    std::vector<Alarm> alarms(5);
    const Instant start = io.clock.now();
    for (const int id : {3, 1, 4, 0, 2}) {
      Alarm& alarm = alarms[static_cast<size_t>(id)];
      alarm.io = &io;
      alarm.id = id;
      alarm.order = &order;
      alarm.deadline = start + (id + 1) * 7'300'000;
      alarm.timer.bind<&Alarm::on_fire>(alarm);
      io.loop.timers().arm(alarm.timer, alarm.deadline);
    }
    io.loop.timers().cancel(alarms[2].timer);
    EXPECT_TRUE(wait_until(io, [&] { return order.size() == 4; }));
    EXPECT_EQ(order, (std::vector{0, 1, 3, 4}));
    EXPECT_GE(io.clock.now() - start, 5 * 7'300'000);
  });
}

// A stop request reaches core 0 as a callback; the engine then stops the others by message. Cores
// do not wait for each other in straight-line code: the simulator runs them all on one thread.
class Stoppable : public Platform::CoreMain {
 public:
  explicit Stoppable(uint16_t cores) : farewells_(cores), cores_(cores) {}
  void on_core_start(CoreIo& io) override {
    cores_[io.index.value()] = &io;
    io.mailboxes.listen<&Stoppable::on_farewell>(farewell_port(io.index), *this);
    if (io.index.value() == 0) ++started;
  }
  void on_stop_request(CoreIo& io) override {
    EXPECT_EQ(io.index.value(), 0);
    ++requests;
    for (uint16_t i = 0; i < farewells_.size(); ++i) {
      farewells_[i].core = i;
      farewells_[i].bind_reply<&Stoppable::on_returned>(*this);
      io.mailboxes.send(CoreIndex{i}, farewell_port(CoreIndex{i}), farewells_[i]);
    }
  }
  void on_core_stop(CoreIo&) override { ++stopped; }

  std::atomic<int> started{0};
  std::atomic<int> requests{0};
  std::atomic<int> stopped{0};

 private:
  struct Farewell : Message {
    uint16_t core = 0;
  };
  static Port farewell_port(CoreIndex core) {
    return Port{static_cast<uint8_t>(10 + core.value())};
  }
  void on_farewell(Message& message) {
    CoreIo& io = *cores_[static_cast<Farewell&>(message).core];
    io.mailboxes.reply(message);
    if (io.index.value() != 0) io.loop.stop();
  }
  void on_returned(Message&) {
    if (++returned_ == farewells_.size()) cores_[0]->loop.stop();
  }
  std::vector<Farewell> farewells_;
  std::vector<CoreIo*> cores_;  // each used on its core
  size_t returned_ = 0;
};

constexpr Port kPort{3};

struct Letter : Message {
  size_t number = 0;
  CoreIndex home{};
};

// Each core sends to every core, itself too, far more than a ring holds; all arrive in order, all
// return.
class Postman {
 public:
  Postman(CoreIo& io, std::function<void()> on_done)
      : io_(io), on_done_(on_done), letters_(io.core_count * kEach), next_(io.core_count) {
    io.mailboxes.listen<&Postman::on_letter>(kPort, *this);
    // Not before all listen.
    timer_.bind<&Postman::send_all>(*this);
    io.loop.timers().arm_after(timer_, 30'000'000);
  }
  void send_all() {
    const size_t before = returned_ + received_;
    for (size_t i = 0; i < letters_.size(); ++i) {
      Letter& letter = letters_[i];
      letter.number = i / io_.core_count;
      letter.home = io_.index;
      letter.bind_reply<&Postman::on_reply>(*this);
      const CoreIndex to{static_cast<uint16_t>(i % io_.core_count)};
      io_.mailboxes.send(to, kPort, letter);
    }
    EXPECT_EQ(returned_ + received_, before) << "a message was delivered inside send";
  }
  void on_letter(Message& message) {
    auto& letter = static_cast<Letter&>(message);
    EXPECT_EQ(letter.number, next_[letter.home.value()]++);
    ++received_;
    io_.mailboxes.reply(letter);
    tell_when_done();
  }
  void on_reply(Message& message) {
    EXPECT_FALSE(message.away());
    EXPECT_EQ(static_cast<Letter&>(message).home, io_.index);
    ++returned_;
    tell_when_done();
  }

 private:
  static constexpr size_t kEach = 3'000;
  void tell_when_done() {
    if (returned_ == letters_.size() && received_ == letters_.size()) on_done_();
  }
  CoreIo& io_;
  std::function<void()> on_done_;
  std::vector<Letter> letters_;
  std::vector<size_t> next_;  // by sender
  size_t received_ = 0;
  size_t returned_ = 0;
  Timer timer_;
};

TEST_P(LoopConformance, MessagesKeepTheirOrderUnderOverload) {
  class Main final : public Stoppable {
   public:
    Main(Platform& platform, uint16_t cores)
        : Stoppable(cores), platform_(platform), postmen_(cores) {}
    void on_core_start(CoreIo& io) override {
      Stoppable::on_core_start(io);
      postmen_[io.index.value()] = std::make_unique<Postman>(io, [this] {
        if (++done_ == postmen_.size()) platform_.request_stop();
      });
    }
    void on_core_stop(CoreIo& io) override {
      postmen_[io.index.value()].reset();
      Stoppable::on_core_stop(io);
    }

   private:
    Platform& platform_;
    std::vector<std::unique_ptr<Postman>> postmen_;
    std::atomic<size_t> done_{0};
  };
  const uint16_t cores = 3;
  const auto world = make_world(GetParam(), cores);
  ASSERT_NE(world, nullptr);
  Main main(world->platform(), cores);
  EXPECT_TRUE(world->platform().run(main));
  EXPECT_EQ(main.stopped, cores);
}

// Core 0 asks a sleeping core 1 again and again; a lost wake-up would end in the deadline.
TEST_P(LoopConformance, SleepingCoresAreWoken) {
  class Main final : public Platform::CoreMain {
   public:
    void on_core_start(CoreIo& io) override {
      if (io.index.value() == 1) {
        other_ = &io;
        io.mailboxes.listen<&Main::on_question>(kPort, *this);
        return;
      }
      question_.bind_reply<&Main::on_answer>(*this);
      op_.bind<&Main::on_answered>(*this);
      Pause pause;
      pause.wait(io, 30'000'000);
      for (int i = 0; i < 200; ++i) {
        if (i % 10 == 0) pause.wait(io, 3'000'000);  // long enough to fall asleep
        op_.arm();
        io.mailboxes.send(CoreIndex{1}, kPort, question_);
        io.loop.run_until(op_);
      }
      EXPECT_EQ(answered_, 200);
      last_ = true;
      op_.arm();
      io.mailboxes.send(CoreIndex{1}, kPort, question_);
      io.loop.run_until(op_);
      io.loop.stop();
    }
    void on_question(Message& message) {
      if (last_) other_->loop.stop();
      other_->mailboxes.reply(message);
    }
    void on_answer(Message&) {
      ++answered_;
      op_.run();
    }
    void on_answered(Op&) {}
    void on_stop_request(CoreIo&) override {}
    void on_core_stop(CoreIo&) override {}

   private:
    Message question_;
    Op op_;
    CoreIo* other_ = nullptr;  // core 1's, used there
    int answered_ = 0;
    bool last_ = false;  // written before the message that carries it
  };
  const auto world = make_world(GetParam(), 2);
  ASSERT_NE(world, nullptr);
  Main main;
  const auto started = std::chrono::steady_clock::now();
  EXPECT_TRUE(world->platform().run(main));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
}

TEST_P(LoopConformance, StopRequestEndsAllCores) {
  const uint16_t cores = 3;
  const auto world = make_world(GetParam(), cores);
  ASSERT_NE(world, nullptr);
  Stoppable main(cores);
  if (world->real()) {
    std::thread stopper([&] {
      while (main.started == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      world->platform().request_stop();
    });
    EXPECT_TRUE(world->platform().run(main));
    stopper.join();
  } else {
    class Late final : public sim::EventTarget {
     public:
      explicit Late(Platform& platform) : platform_(platform) {}
      void on_event(uint32_t, uint64_t) override { platform_.request_stop(); }

     private:
      Platform& platform_;
    };
    Late late(world->platform());
    static_cast<SimulatedWorld&>(*world).scheduler().after(30'000'000, late, 0, 0);
    EXPECT_TRUE(world->platform().run(main));
  }
  EXPECT_EQ(main.requests, 1);
  EXPECT_EQ(main.stopped, cores);
}

// An idle core sleeps: no processor time, however long a timer is still to run.
TEST_P(LoopConformance, IdleCostsNothing) {
  if (!make_world(GetParam(), 1)->real()) GTEST_SKIP() << "time is virtual";
  run(2, [](World&, CoreIo& io) {
    const auto used_ns = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    const int64_t before = used_ns();
    Pause pause;
    pause.wait(io, 150'000'000);
    EXPECT_LT(used_ns() - before, 10'000'000);
  });
}

}  // namespace
}  // namespace weir::io::test
