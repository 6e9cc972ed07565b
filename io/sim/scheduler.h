#pragma once
// Scheduler: virtual time and the queue of everything that will happen in a simulated world,
// ordered by (virtual time, seeded tie-break). It also folds the trace hash and knows whether the
// simulated process is alive, because every part of the world asks both.

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/base/random.h"
#include "io/clock.h"
#include "io/op.h"

namespace weir::io::sim {

// A long-lived part of the world that events are for. Events outlive the simulated process, so a
// target never is something that a crash destroys; it looks its argument up and may find it gone.
class EventTarget {
 public:
  virtual ~EventTarget() = default;
  virtual void on_event(uint32_t kind, uint64_t argument) = 0;
};

// The moments at which a crash is most likely to show something.
enum class CrashPoint : uint8_t { flush, directory };

class CrashListener {
 public:
  virtual ~CrashListener() = default;
  virtual void on_crash_point(CrashPoint point) = 0;
};

class Scheduler {
 public:
  Scheduler(uint64_t seed, CrashListener& listener);

  int64_t now_ns() const { return now_ns_; }
  uint64_t event_count() const { return event_count_; }
  uint64_t trace_hash() const { return trace_hash_; }

  // The target must outlive the event. A moment in the past means now.
  void at(int64_t when_ns, EventTarget& target, uint32_t kind, uint64_t argument);
  void after(int64_t delay_ns, EventTarget& target, uint32_t kind, uint64_t argument) {
    at(now_ns_ + delay_ns, target, kind, argument);
  }
  // Drops what is scheduled for a target that is about to die.
  void forget(const EventTarget& target);

  bool empty() const { return heap_.empty(); }
  int64_t next_time_ns() const { return heap_.front().when_ns; }  // not when empty
  void run_next();                                                // not when empty
  void skip_to(int64_t when_ns);                                  // when nothing happens before it

  // Folds what happened into the hash that proves a replay.
  void trace(std::string_view what, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0);

  // Dead: the simulated process crashed and was not restarted; whatever it asks for fails with
  // -EIO.
  bool dead() const { return dead_; }
  void set_dead(bool dead) { dead_ = dead; }
  void crash_point(CrashPoint point) { listener_.on_crash_point(point); }

  // Straight-line code waits for `op`: a crash must leave it armed, for run_until() to finish it.
  void push_waited(Op& op) { waited_.push_back(&op); }
  void pop_waited() { waited_.pop_back(); }
  void abandon(Op& op);

 private:
  struct Event {
    int64_t when_ns;
    uint64_t order;  // seeded tie-break, then order of scheduling
    EventTarget* target;
    uint64_t argument;
    uint32_t kind;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when_ns != b.when_ns ? a.when_ns > b.when_ns : a.order > b.order;
    }
  };

  CrashListener& listener_;
  base::RandomStream random_;
  std::vector<Event> heap_;  // smallest (when, order) first
  std::vector<Op*> waited_;
  int64_t now_ns_ = 1'000'000'000;
  uint64_t sequence_ = 0;
  uint64_t event_count_ = 0;
  uint64_t trace_hash_ = 0;
  bool dead_ = false;
};

// A latency around `typical_ns`: most near it, some several times it, a few far out.
int64_t draw_latency(base::RandomStream& random, int64_t typical_ns);

}  // namespace weir::io::sim
