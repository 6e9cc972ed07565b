#pragma once
// Ring: submission and completion queue of one core.

#include <liburing.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/base/result.h"
#include "io/op.h"
#include "io/uring/features.h"

namespace weir::io::uring {

// A completion that the back end handles itself, embedded in whatever waits for it (see also Op,
// which is the engine's). Pinned while the kernel has it.
struct alignas(8) Step {
  using Function = void (*)(void* owner, Step& step, int32_t result, uint32_t flags);
  void* owner = nullptr;
  Function function = nullptr;
};

// Opened, used and destroyed on the core's own thread, but for descriptor(). User data of an entry
// is the address of an Op (lowest bit 0) or of a Step (lowest bit 1), or 0 for a completion that
// nobody awaits. The submission queue never is full for the caller: it is submitted early.
// Completions that arrive while the kernel takes no more wait in `early_`.
class Ring {
 public:
  Ring() = default;
  ~Ring() { close(); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  base::Status open(const Features& features);
  // Cancels what is armed; before any memory that armed operations point to is freed.
  void close();
  int descriptor() const { return ring_.ring_fd; }
  const Features& features() const { return features_; }

  // The next entry, to be prepared and then given its user data by expect().
  io_uring_sqe& next_entry();
  static void expect(io_uring_sqe& entry, Op& op) {
    entry.user_data = reinterpret_cast<uintptr_t>(&op);
  }
  static void expect(io_uring_sqe& entry, Step& step) { entry.user_data = user_data_of(step); }
  static void expect_nothing(io_uring_sqe& entry) { entry.user_data = 0; }
  static uint64_t user_data_of(Step& step) { return reinterpret_cast<uintptr_t>(&step) | 1; }

  // Submits all entries; with `sleep` waits for a completion, at most `timeout_ns` when given.
  void enter(bool sleep, std::optional<int64_t> timeout_ns);
  bool has_completions() const;
  // Runs the completions that are here now; true when there were any.
  bool run_completions();

  // Memory whose pages stay mapped for the kernel; index for WRITE_FIXED, or none: not registered.
  bool register_memory(std::span<std::byte> memory);
  std::optional<uint16_t> memory_index(const std::byte* data, size_t size) const;

  io_uring& raw() { return ring_; }

 private:
  static constexpr unsigned kEntries = 512;
  static constexpr unsigned kCompletions = 4096;
  static constexpr size_t kMemoryRegions = 16;

  struct Completion {
    uint64_t user_data;
    int32_t result;
    uint32_t flags;
  };
  struct Region {
    const std::byte* begin;
    const std::byte* end;
  };

  unsigned publish();
  int call_enter(unsigned to_submit, unsigned wait, unsigned flags, void* argument, size_t size);
  std::optional<Completion> take();
  void set_aside();
  static void run(const Completion& completion);

  io_uring ring_{};
  bool open_ = false;
  bool by_index_ = false;  // enter through the registered descriptor
  Features features_;
  std::vector<Completion> early_;  // taken from the queue to make room, in order
  std::vector<Region> regions_;    // index is the kernel's buffer index
  bool regions_prepared_ = false;
};

}  // namespace weir::io::uring
