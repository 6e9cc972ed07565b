#pragma once
// Op: one asynchronous operation, embedded in the thing that waits for it.
//
// Life: bind once to a method of the owner; hand to a call of Disk, Network, Loop, which arms it;
// the completion runs from the loop, never from inside the call; then it may be armed again. An
// armed Op pins its owner: cancel or wait, then destroy (checked). One core only.
//
// result(): what the system call would have returned: >= 0, or -errno. Short counts reach the
// caller.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "io/base/assert.h"

namespace weir::io {

class Op {
 public:
  using Function = void (*)(void* owner, Op& op);

  Op() = default;
  ~Op() { ASSERT(!armed_, "destroyed while in flight"); }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // Completion calls (owner.*Method)(op).
  template <auto Method, class Owner>
  void bind(Owner& owner) {
    ASSERT(!armed_);
    owner_ = &owner;
    function_ = [](void* o, Op& op) { (static_cast<Owner*>(o)->*Method)(op); };
  }

  bool armed() const { return armed_; }
  int32_t result() const { return result_; }

  // For back ends and ready queues only.
  void arm() {
    ASSERT(!armed_ && function_ != nullptr);
    armed_ = true;
  }
  void set_result(int32_t result) { result_ = result; }
  void run() {
    ASSERT(armed_);
    armed_ = false;
    function_(owner_, *this);
  }
  // For who stands between a caller and a back end, before the call (watched_disk.h): the
  // completion goes to `to`; returns where it went.
  struct Target {
    void* owner = nullptr;
    Function function = nullptr;
  };
  Target redirect(Target to) {
    ASSERT(!armed_);
    return {std::exchange(owner_, to.owner), std::exchange(function_, to.function)};
  }
  // The simulator's crash: the operation will never complete and its owner is about to be
  // destroyed.
  void abandon() { armed_ = false; }
  Op* next = nullptr;  // intrusive link of whichever queue holds the armed op

 private:
  void* owner_ = nullptr;
  Function function_ = nullptr;
  int32_t result_ = 0;
  bool armed_ = false;
};
static_assert(sizeof(Op) == 32);

// A receive into memory of the back end: `data` is valid only while the completion runs.
class ReceiveOp : public Op {
 public:
  std::span<const std::byte> data;
};

// FIFO of armed ops.
class OpQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(Op& op) {
    op.next = nullptr;
    (tail_ ? tail_->next : head_) = &op;
    tail_ = &op;
  }
  Op* pop() {
    Op* op = head_;
    if (op) {
      head_ = op->next;
      if (!head_) tail_ = nullptr;
      op->next = nullptr;
    }
    return op;
  }
  // Takes everything at once, so that ops pushed while running wait for the next round.
  OpQueue take() {
    OpQueue all = *this;
    head_ = tail_ = nullptr;
    return all;
  }

 private:
  Op* head_ = nullptr;
  Op* tail_ = nullptr;
};

}  // namespace weir::io
