#pragma once
// HelperThreads: blocking file calls off the cores. FinishedJobs: their way back to a core.
// CoreJobs: the core's side.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "io/disk.h"
#include "io/posix/stop_request.h"

namespace weir::io::posix {

class FinishedJobs;

enum class JobKind : uint8_t {
  open,
  close,
  read,
  write,
  sync,
  allocate,
  truncate,
  rename,
  remove,
  make_directory,
  sync_directory,
};

// One file call. Made by a core, executed by a helper, completed by the same core; each side
// touches it only in its turn, and the queues between them order the accesses.
struct Job {
  JobKind kind{};
  int file = -1;
  uint64_t position = 0;
  uint64_t size = 0;              // of allocate and truncate
  std::span<std::byte> into;      // of read; the caller's
  std::span<const Slice> pieces;  // of write; the caller's
  bool durable = false;
  bool use_dsync = false;         // RWF_DSYNC may be tried
  bool dsync_refused = false;     // set by the helper
  bool direct_refused = false;    // set by the helper
  const char* path = nullptr;     // the caller's
  const char* path_to = nullptr;  // of rename; the caller's
  OpenOptions options;            // of open
  int32_t result = 0;
  Op* op = nullptr;
  FinishedJobs* home = nullptr;
  Job* next = nullptr;  // of whichever queue holds it
};

// Executes the call; `result` is as from a ring.
void execute(Job& job);

// Jobs that are done, for one core. Outlives the core, so that a helper always finds it.
class FinishedJobs {
 public:
  explicit FinishedJobs(EventFd& wake) : wake_(wake) {}
  void push(Job& job);  // by helpers; wakes the core when it is the first
  // By the core: all, oldest first, linked through next.
  Job* take();
  bool any() const { return any_.load(std::memory_order_acquire); }

 private:
  EventFd& wake_;
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  Job* head_ = nullptr;
  Job* tail_ = nullptr;
};

// A fixed number of threads over one queue, shared by all cores of a platform. Destruction finishes
// what is queued. A write in flight when the process is killed: see DirectoryLock for why that is
// safe.
class HelperThreads {
 public:
  explicit HelperThreads(size_t count);
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  void push(Job& job);

 private:
  void serve();
  Job* next_job();

  std::mutex mutex_;
  std::condition_variable more_;
  Job* head_ = nullptr;
  Job* tail_ = nullptr;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

// The jobs of one core: made, pushed and completed on its thread; recycled, so there are as many as
// were ever in flight at once. Refusals of RWF_DSYNC and O_DIRECT are said once and remembered.
class CoreJobs {
 public:
  struct Options {
    bool dsync = true;
    bool direct = true;
  };
  // Both references outlive this; all jobs are back before it goes.
  CoreJobs(HelperThreads& helpers, FinishedJobs& finished, Options options)
      : helpers_(helpers), finished_(finished), options_(options) {}

  const Options& options() const { return options_; }
  // The job of an operation that is armed from now on; to be filled in and pushed.
  Job& make(Op& op, JobKind kind);
  void push(Job& job) { helpers_.push(job); }
  void write(Op& op, int file, std::span<const Slice> pieces, uint64_t position, bool durable);

  bool any_finished() const { return finished_.any(); }
  // Runs the completions of what is done; true when there was any.
  bool run_finished();

 private:
  void give_back(Job& job);

  HelperThreads& helpers_;
  FinishedJobs& finished_;
  Options options_;
  bool told_buffered_ = false;
  std::deque<Job> jobs_;  // stable addresses
  std::vector<Job*> unused_;
};

}  // namespace weir::io::posix
