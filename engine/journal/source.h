#pragma once
// Source: a partition as its core's journal sees it. One core; a source outlives every commit that
// it is part of (parts_in_flight() says).

#include <cstdint>

#include "engine/journal/commit.h"
#include "io/base/intrusive_list.h"

namespace weir::journal {

class Source : public base::TaggedHook<0>, public base::TaggedHook<1> {
 public:
  using DirtyHook = base::TaggedHook<0>;
  using NeedHook = base::TaggedHook<1>;
  virtual ~Source() = default;

  // Adds what waits to the commit. True: all of it is in. False: it did not fit and stays waiting.
  virtual bool contribute(Commit& commit) = 0;
  // The part is on stable storage, and so is everything committed before.
  virtual void committed(const Part& part) = 0;
  // The device failed: nothing that waits or is in flight will ever be acknowledged.
  virtual void commit_failed() = 0;
  // The journal wants its oldest records back: move bytes to the segment, then carry the rest
  // forward.
  virtual void make_room() = 0;

  // The oldest record that holds bytes of this source found nowhere else; 0: none.
  uint64_t oldest_needed() const { return oldest_needed_; }

 private:
  friend class Journal;
  uint64_t oldest_needed_ = 0;
  uint64_t waiting_bytes_ = 0;
  uint32_t carry_bytes_ = 0;  // a carry brings at most so many, once whole blocks are flushed
};

}  // namespace weir::journal
