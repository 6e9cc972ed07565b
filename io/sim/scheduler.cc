#include "io/sim/scheduler.h"

#include <algorithm>
#include <cerrno>

namespace weir::io::sim {
namespace {

uint64_t fold(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ull + (hash << 6) + (hash >> 2);
  hash *= 0xBF58476D1CE4E5B9ull;
  return hash ^ (hash >> 31);
}

}  // namespace

Scheduler::Scheduler(uint64_t seed, CrashListener& listener)
    : listener_(listener), random_(seed, "scheduler"), trace_hash_(seed) {}

void Scheduler::at(int64_t when_ns, EventTarget& target, uint32_t kind, uint64_t argument) {
  const uint64_t order = (random_.next() << 40) | (sequence_++ & 0xFF'FFFF'FFFF);
  heap_.push_back({std::max(when_ns, now_ns_), order, &target, argument, kind});
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

void Scheduler::forget(const EventTarget& target) {
  std::erase_if(heap_, [&](const Event& event) { return event.target == &target; });
  std::make_heap(heap_.begin(), heap_.end(), Later{});
}

void Scheduler::run_next() {
  ASSERT(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), Later{});
  const Event event = heap_.back();
  heap_.pop_back();
  now_ns_ = event.when_ns;
  ++event_count_;
  trace_hash_ = fold(fold(fold(trace_hash_, static_cast<uint64_t>(now_ns_)), event.kind),
                     event.argument);
  event.target->on_event(event.kind, event.argument);
}

void Scheduler::skip_to(int64_t when_ns) {
  ASSERT(heap_.empty() || heap_.front().when_ns >= when_ns);
  now_ns_ = std::max(now_ns_, when_ns);
}

void Scheduler::trace(std::string_view what, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t name = what.size();
  for (char letter : what) name = name * 131 + static_cast<unsigned char>(letter);
  trace_hash_ = fold(fold(fold(fold(trace_hash_, name), a), b), c);
}

void Scheduler::abandon(Op& op) {
  op.set_result(-EIO);
  if (std::find(waited_.begin(), waited_.end(), &op) == waited_.end()) op.abandon();
}

int64_t draw_latency(base::RandomStream& random, int64_t typical_ns) {
  const auto typical = static_cast<uint64_t>(std::max<int64_t>(typical_ns, 1));
  uint64_t latency = typical / 2 + random.below(typical + 1);
  const uint64_t luck = random.below(200);
  if (luck == 0) latency *= 20;
  else if (luck < 10) latency *= 4;
  return static_cast<int64_t>(latency);
}

}  // namespace weir::io::sim
