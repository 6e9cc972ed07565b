// What only real platforms do: the lock of the data directory, stop requests, refused rings, limits
// of the process. Over io/uring and io/posix.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <fstream>

#include "tests/io/conformance.h"

namespace weir::io::test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

class PlatformTest : public Conformance {
 protected:
  std::unique_ptr<World> world(uint16_t cores = 1) { return make_world(GetParam(), cores); }
};

std::vector<Backend> real_backends() {
  return {uring_without("uring", nullptr),
          {"posix", [](const PlatformOptions& options) { return posix::make_platform(options); }}};
}
INSTANTIATE_TEST_SUITE_P(Io, PlatformTest, testing::ValuesIn(real_backends()), backend_name);

// A child process; killed, if it still runs, when the test ends.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) : id_(fork()) {
    if (id_ == 0) _exit(body());
  }
  ~Child() { kill(); }
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  int wait() {  // the exit code, or -1
    int status = 0;
    waitpid(std::exchange(id_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t id() const { return id_; }

 private:
  pid_t id_;
};

TEST_P(PlatformTest, DirectoryIsForOneProcess) {
  const auto own = world();
  const auto other = world();
  const std::string directory = own->directory() + "/new/data";
  EXPECT_TRUE(own->platform().lock(directory, 0));
  const auto refused = other->platform().lock(directory, 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EWOULDBLOCK);
  EXPECT_EQ(refused.error().detail, fmt::format("data directory {} is in use by process {}",
                                                directory, getpid()));
  EXPECT_EQ(other->platform().lock("/proc/none/data", 0).error().code, ENOENT);
}

// The child serves with a write in flight at any moment; after its kill the directory is soon free.
TEST_P(PlatformTest, KilledProcessFreesTheDirectory) {
  if (kThreadSanitizer) GTEST_SKIP() << "a forked child cannot start threads under it";
  const auto own = world();
  const std::string directory = own->directory() + "/data";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  Child child([&] {
    const auto platform = GetParam().make({.cores = 2, .pin = false});
    if (!platform || !(*platform)->lock(directory, 0)) return 1;
    Script script([&](CoreIo& io) {
      const std::string path = directory + "/" + std::to_string(io.index.value());
      Call call;
      io.disk.open(call.op, path.c_str(), {.create = true});
      const FileId file{call.wait(io)};
      const auto bytes = pattern(100'000);
      const Slice piece{bytes.data(), bytes.size()};
      for (uint64_t round = 0;; ++round) {
        io.disk.write(call.op, file, {&piece, 1}, round % 100 * 100'000, Durability::awaited);
        if (call.wait(io) != 100'000) return;
        if (round == 2) [[maybe_unused]] const auto size = ::write(ready[1], "x", 1);
      }
    });
    return (*platform)->run(script) ? 2 : 3;
  });
  ::close(ready[1]);  // a child that dies early ends the read
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto refused = own->platform().lock(directory, 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find(std::to_string(child.id())), std::string::npos);
  child.kill();
  const auto status = own->platform().lock(directory, 10'000);
  EXPECT_TRUE(status) << status.error().detail;
  std::ifstream lock(directory + "/lock");
  int holder = 0;
  EXPECT_TRUE(lock >> holder);
  EXPECT_EQ(holder, getpid());
  ::close(ready[0]);
}

// A platform may run again; the lock is kept in between.
TEST_P(PlatformTest, RunsWithTheLockHeldAndAgain) {
  const auto own = world(2);
  ASSERT_TRUE(own->platform().lock(own->directory(), 0));
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> starts{0};
    Script script([&](CoreIo& io) {
      EXPECT_EQ(io.core_count, 2);
      ++starts;
    });
    EXPECT_TRUE(own->platform().run(script));
    EXPECT_EQ(starts, 2);
  }
}

TEST_P(PlatformTest, StopRequestBeforeTheStartIsKept) {
  class Main final : public Platform::CoreMain {
   public:
    void on_core_start(CoreIo& io) override {
      Pause pause;
      pause.wait(io, 5'000'000);
      started_ = true;
    }
    void on_stop_request(CoreIo& io) override {
      EXPECT_TRUE(started_);
      ++requests;
      io.loop.stop();
    }
    void on_core_stop(CoreIo&) override {}
    int requests = 0;

   private:
    bool started_ = false;
  };
  const auto own = world();
  Main main;
  own->platform().request_stop();
  own->platform().request_stop();
  EXPECT_TRUE(own->platform().run(main));
  EXPECT_EQ(main.requests, 1);
}

TEST_P(PlatformTest, StopRequestFromASignalHandler) {
  static Platform* target = nullptr;
  class Main final : public Platform::CoreMain {
   public:
    void on_core_start(CoreIo& io) override {
      if (io.index.value() != 0) return io.loop.stop();
      timer_.bind<&Main::on_timer>(*this);
      io.loop.timers().arm_after(timer_, 20'000'000);
    }
    void on_timer() { kill(getpid(), SIGUSR1); }
    void on_stop_request(CoreIo& io) override { io.loop.stop(); }
    void on_core_stop(CoreIo&) override {}

   private:
    Timer timer_;
  };
  const auto own = world(2);
  target = &own->platform();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { target->request_stop(); };
  sigaction(SIGUSR1, &action, &before);
  Main main;
  EXPECT_TRUE(own->platform().run(main));
  sigaction(SIGUSR1, &before, nullptr);
}

// Out of descriptors an accept fails as a value; the connection waits and is taken later.
TEST_P(PlatformTest, AcceptWithoutDescriptorsFailsAndRecovers) {
  run(1, [](World& world, CoreIo& io) {
    const auto listener = io.network.listen({"127.0.0.1", 0});
    ASSERT_TRUE(listener);
    const auto peer = world.make_peer();
    peer->connect(io.network.listening(*listener));
    EXPECT_TRUE(wait_until(io, [&] { return peer->connected(); }));
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int lowest_free = dup(STDERR_FILENO);
    ::close(lowest_free);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    setrlimit(RLIMIT_NOFILE, &none);
    Call accept;
    io.network.accept(accept.op, *listener);
    EXPECT_EQ(accept.wait(io), -EMFILE);
    setrlimit(RLIMIT_NOFILE, &before);
    io.network.accept(accept.op, *listener);
    EXPECT_GE(accept.wait(io), 0);
    Call close;
    io.network.close(close.op, SocketId{accept.op.result()});
    EXPECT_EQ(close.wait(io), 0);
  });
}

// A lock belongs to the open file: the second open is refused until the first is closed.
TEST_P(PlatformTest, LockedFileOpensOnce) {
  run(1, [](World& world, CoreIo& io) {
    const std::string path = world.directory() + "/file";
    const auto open = [&](OpenOptions options) {
      Call call;
      io.disk.open(call.op, path.c_str(), options);
      return call.wait(io);
    };
    const auto close = [&](int32_t file) {
      Call call;
      io.disk.close(call.op, FileId{file});
      EXPECT_EQ(call.wait(io), 0);
    };
    const int32_t first = open({.create = true, .direct = true, .locked = true});
    ASSERT_GE(first, 0);
    EXPECT_EQ(open({.direct = true, .locked = true}), -EWOULDBLOCK);
    const int32_t unlocked = open({});
    EXPECT_GE(unlocked, 0);
    close(unlocked);
    close(first);
    const int32_t second = open({.locked = true});
    ASSERT_GE(second, 0);
    close(second);
  });
}

// procfs refuses O_DIRECT.
TEST_P(PlatformTest, RefusedDirectFileIsBuffered) {
  run(1, [](World&, CoreIo& io) {
    Call call;
    io.disk.open(call.op, "/proc/self/comm", {.direct = true, .writable = false});
    ASSERT_GE(call.wait(io), 0);
    const FileId file{call.op.result()};
    std::byte bytes[16];
    io.disk.read(call.op, file, bytes, 0);
    EXPECT_GT(call.wait(io), 0);
    io.disk.close(call.op, file);
    EXPECT_EQ(call.wait(io), 0);
  });
}

// A container's profile often answers io_uring_setup with EPERM: an error that says so, and no
// crash.
TEST(UringPlatform, ForbiddenRingsAreAnError) {
  Child child([] {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = std::size(code), .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 10;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 11;
    const auto platform = uring::make_platform({.cores = 1});
    if (platform) return 1;
    if (platform.error().code != EPERM) return 2;
    return platform.error().detail.find("EPERM") != std::string::npos ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace weir::io::test
