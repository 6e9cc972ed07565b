#include "io/uring/ring.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "io/base/logging.h"
#include "io/errors.h"

namespace weir::io::uring {

namespace {

// The indices shared with the kernel.
unsigned load_acquire(unsigned* index) {
  return std::atomic_ref(*index).load(std::memory_order_acquire);
}
void store_release(unsigned* index, unsigned value) {
  std::atomic_ref(*index).store(value, std::memory_order_release);
}

}  // namespace

void Ring::close() {
  if (open_) io_uring_queue_exit(&ring_);
  open_ = false;
}

base::Status Ring::open(const Features& features) {
  ASSERT(!open_);
  features_ = features;
  io_uring_params parameters{};
  parameters.flags = features.setup_flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
  parameters.cq_entries = kCompletions;
  const int code = io_uring_queue_init_params(kEntries, &ring_, &parameters);
  if (code < 0) return base::error(-code, "io_uring refused: " + errno_name(-code));
  open_ = true;
  // Entry i of the queue is always entry i of the array: publishing is then one store.
  for (unsigned i = 0; i < ring_.sq.ring_entries; ++i) ring_.sq.array[i] = i;
  by_index_ = features.registered_ring && io_uring_register_ring_fd(&ring_) == 1;
  return {};
}

io_uring_sqe& Ring::next_entry() {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    const int code = call_enter(publish(), 0, 0, nullptr, 0);
    if (code == -EAGAIN || code == -EBUSY) {
      // The kernel wants completions taken first; they must not run here, inside a submit.
      call_enter(0, 0, IORING_ENTER_GETEVENTS, nullptr, 0);
      set_aside();
      sched_yield();
    }
    entry = io_uring_get_sqe(&ring_);
  }
  return *entry;
}

void Ring::enter(bool sleep, std::optional<int64_t> timeout_ns) {
  const unsigned to_submit = publish();
  if (!early_.empty()) sleep = false;
  if (to_submit == 0 && !sleep) {
    const unsigned pending = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
    if ((load_acquire(ring_.sq.kflags) & pending) == 0) return;
  }
  __kernel_timespec time{};
  io_uring_getevents_arg argument{};
  argument.sigmask_sz = _NSIG / 8;
  if (timeout_ns) {
    time.tv_sec = *timeout_ns / 1'000'000'000;
    time.tv_nsec = *timeout_ns % 1'000'000'000;
    argument.ts = reinterpret_cast<uintptr_t>(&time);
  }
  const unsigned flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
  const int code = call_enter(to_submit, sleep ? 1 : 0, flags, &argument, sizeof argument);
  // A deadline, a signal, or a kernel that wants completions taken first: the next turn goes on.
  ASSERT(code >= 0 || code == -ETIME || code == -EINTR || code == -EAGAIN || code == -EBUSY,
         "io_uring_enter: {}", errno_name(-code));
}

bool Ring::has_completions() const {
  if (!early_.empty()) return true;
  if (load_acquire(ring_.cq.ktail) != *ring_.cq.khead) return true;
  const unsigned flags = load_acquire(ring_.sq.kflags);
  return (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

bool Ring::run_completions() {
  bool any = false;
  if (!early_.empty()) {
    std::vector<Completion> batch;
    batch.swap(early_);
    for (const Completion& completion : batch) run(completion);
    any = true;
  }
  // Those here now: completions of what they submit belong to a later round.
  for (unsigned left = load_acquire(ring_.cq.ktail) - *ring_.cq.khead; left > 0; --left) {
    const auto completion = take();
    if (!completion) break;  // a nested submit has set the rest aside
    run(*completion);
    any = true;
  }
  return any;
}

bool Ring::register_memory(std::span<std::byte> memory) {
  if (!regions_prepared_) {
    if (io_uring_register_buffers_sparse(&ring_, kMemoryRegions) != 0) return false;
    regions_prepared_ = true;
  }
  if (regions_.size() == kMemoryRegions) return false;
  const iovec piece{.iov_base = memory.data(), .iov_len = memory.size()};
  const __u64 tag = 0;
  const auto index = static_cast<unsigned>(regions_.size());
  const int code = io_uring_register_buffers_update_tag(&ring_, index, &piece, &tag, 1);
  if (code != 1) {
    base::log_info("io", "memory not registered size={} error={}", memory.size(),
                   errno_name(-code));
    return false;
  }
  regions_.push_back({memory.data(), memory.data() + memory.size()});
  return true;
}

std::optional<uint16_t> Ring::memory_index(const std::byte* data, size_t size) const {
  for (size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    if (data >= region.begin && data + size <= region.end) return static_cast<uint16_t>(i);
  }
  return std::nullopt;
}

// Makes prepared entries visible to the kernel; returns how many it has not taken yet.
unsigned Ring::publish() {
  io_uring_sq& queue = ring_.sq;
  if (queue.sqe_head != queue.sqe_tail) {
    queue.sqe_head = queue.sqe_tail;
    store_release(queue.ktail, queue.sqe_tail);
  }
  return queue.sqe_tail - load_acquire(queue.khead);
}

int Ring::call_enter(unsigned to_submit, unsigned wait, unsigned flags, void* argument,
                     size_t size) {
  if (by_index_) flags |= IORING_ENTER_REGISTERED_RING;
  return io_uring_enter2(static_cast<unsigned>(ring_.enter_ring_fd), to_submit, wait, flags,
                         static_cast<sigset_t*>(argument), size);
}

std::optional<Ring::Completion> Ring::take() {
  const unsigned head = *ring_.cq.khead;
  if (head == load_acquire(ring_.cq.ktail)) return std::nullopt;
  const io_uring_cqe& entry = ring_.cq.cqes[head & ring_.cq.ring_mask];
  const Completion completion{entry.user_data, entry.res, entry.flags};
  store_release(ring_.cq.khead, head + 1);
  return completion;
}

void Ring::set_aside() {
  while (const auto completion = take()) early_.push_back(*completion);
}

void Ring::run(const Completion& completion) {
  if (completion.user_data == 0) return;
  if ((completion.user_data & 1) != 0) {
    Step& step = *reinterpret_cast<Step*>(completion.user_data - 1);
    step.function(step.owner, step, completion.result, completion.flags);
    return;
  }
  Op& op = *reinterpret_cast<Op*>(completion.user_data);
  op.set_result(completion.result);
  op.run();
}

}  // namespace weir::io::uring
