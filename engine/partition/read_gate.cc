#include "engine/partition/read_gate.h"

#include "engine/partition/read_job.h"

namespace weir::partition {

ReadGate::ReadGate(Services& services, size_t size_max)
    : services_(services), size_max_(size_max) {
  timer_.bind<&ReadGate::on_time>(*this);
}

// In a simulated crash reads may still wait: they are never answered.
ReadGate::~ReadGate() {
  while (waiting_.pop_front() != nullptr) {
  }
}

void ReadGate::wait(ReadJob& job) {
  ++services_.metrics.read_waits;
  job.patience_ends = services_.io.clock.now() + kPatience_ns;
  waiting_.push_back(job);
  if (!timer_.armed()) arm();
}

void ReadGate::look() {
  while (!waiting_.empty() && open()) waiting_.pop_front()->admitted();
  if (waiting_.empty()) services_.io.loop.timers().cancel(timer_);
}

void ReadGate::on_time() {
  const io::Instant now = services_.io.clock.now();
  while (!waiting_.empty() && waiting_.front().patience_ends <= now) {
    ++services_.metrics.reads_turned_away;
    waiting_.pop_front()->turned_away();
  }
  if (!waiting_.empty()) arm();
}

void ReadGate::arm() {
  services_.io.loop.timers().arm(timer_, waiting_.front().patience_ends);
}

}  // namespace weir::partition
