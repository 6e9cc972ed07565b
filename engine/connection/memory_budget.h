#pragma once
// MemoryBudget: how many bytes the requests of one core may hold. A plain counter: whoever wants
// memory reserves first, whoever cannot waits in line and receives nothing meanwhile (RELIABILITY
// rule 10).

#include <cstddef>

#include "engine/connection/config.h"
#include "io/base/assert.h"
#include "io/base/intrusive_list.h"
#include "io/loop.h"

namespace weir::connection {

class MemoryBudget {
 public:
  // One who waits. The callback runs from the loop, with the bytes already reserved for it.
  class Waiter : public base::ListHook {
   public:
    Waiter() = default;
    ~Waiter() { ASSERT(!linked()); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    template <auto Method, class Owner>
    void bind(Owner& owner) {
      owner_ = &owner;
      granted_ = [](void* o) { (static_cast<Owner*>(o)->*Method)(); };
    }

   private:
    friend class MemoryBudget;
    void* owner_ = nullptr;
    void (*granted_)(void*) = nullptr;
    size_t size_ = 0;
  };

  MemoryBudget(io::Loop& loop, size_t size_max);

  // The largest reservation that can ever succeed.
  [[nodiscard]] size_t reservation_max() const { return size_max_ - size_max_ / 4; }
  [[nodiscard]] size_t size_used() const { return size_used_; }
  [[nodiscard]] bool has_waiters() const { return !waiters_.empty(); }

  // False: not now. Larger requests do not overtake those that wait.
  [[nodiscard]] bool try_reserve(size_t size);
  void wait(Waiter& waiter, size_t size);
  void cancel(Waiter& waiter);
  void release(size_t size);
  // For memory that is there already: a response that was built. May exceed the budget, which then
  // holds back new requests.
  void reserve_late(size_t size) { size_used_ += size; }

 private:
  [[nodiscard]] bool fits(size_t size) const;
  void on_wake(io::Op&);

  io::Loop& loop_;
  const size_t size_max_;
  size_t size_used_ = 0;
  base::IntrusiveList<Waiter> waiters_;  // first come, first served
  io::Op wake_op_;
};

}  // namespace weir::connection
