#include "engine/connection/memory_budget.h"

namespace weir::connection {

MemoryBudget::MemoryBudget(io::Loop& loop, size_t size_max) : loop_(loop), size_max_(size_max) {
  ASSERT(reservation_max() >= kFrameSizeAtOnce, "budget of {} bytes", size_max);
  wake_op_.bind<&MemoryBudget::on_wake>(*this);
}

bool MemoryBudget::fits(size_t size) const {
  const size_t limit = size <= kSmallReservation ? size_max_ : reservation_max();
  return size_used_ <= limit && size <= limit - size_used_;
}

bool MemoryBudget::try_reserve(size_t size) {
  if (!fits(size) || (size > kSmallReservation && !waiters_.empty())) return false;
  size_used_ += size;
  return true;
}

void MemoryBudget::wait(Waiter& waiter, size_t size) {
  ASSERT(size <= reservation_max(), "{} bytes can never be reserved", size);
  waiter.size_ = size;
  waiters_.push_back(waiter);
}

void MemoryBudget::cancel(Waiter& waiter) {
  if (!waiter.linked()) return;
  waiter.unlink();
  // Those behind it may fit where it did not.
  if (!waiters_.empty() && !wake_op_.armed()) loop_.post(wake_op_);
}

void MemoryBudget::release(size_t size) {
  ASSERT(size <= size_used_);
  size_used_ -= size;
  if (!waiters_.empty() && !wake_op_.armed()) loop_.post(wake_op_);
}

void MemoryBudget::on_wake(io::Op&) {
  while (!waiters_.empty() && fits(waiters_.front().size_)) {
    Waiter& waiter = *waiters_.pop_front();
    size_used_ += waiter.size_;
    waiter.granted_(waiter.owner_);
  }
}

}  // namespace weir::connection
