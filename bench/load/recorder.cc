#include "bench/load/recorder.h"

#include <utility>

namespace weir::load {

void Live::merge(const Live& other) {
  acked_records += other.acked_records;
  acked_bytes += other.acked_bytes;
  read_records += other.read_records;
  read_bytes += other.read_bytes;
  errors += other.errors;
  latency_us.merge(other.latency_us);
}

Window window_of(const Plan& plan, int64_t start_ns) {
  const int64_t from_ns = start_ns + plan.warmup_ms * 1'000'000;
  return {.from_ns = from_ns, .to_ns = from_ns + plan.duration_ms * 1'000'000};
}

void Recorder::acked(int64_t intended_ns, int64_t now_ns, uint64_t records, uint64_t bytes) {
  const int64_t latency_ns = now_ns - intended_ns;
  results_.acked_total.add(records, bytes);
  if (window_.contains(now_ns)) results_.acked.add(records, bytes);
  if (window_.contains(intended_ns)) results_.ack.add(latency_ns);
  new_.acked_records += records;
  new_.acked_bytes += bytes;
  if (!live_is_end_to_end_) new_.latency_us.add(static_cast<uint64_t>(latency_ns) / 1000);
}

void Recorder::fetched(int64_t now_ns, const Flow& flow) {
  if (window_.contains(now_ns)) results_.read.merge(flow);
  new_.read_records += flow.records;
  new_.read_bytes += flow.bytes;
}

void Recorder::arrived(int64_t intended_ns, int64_t now_ns, uint64_t records) {
  const int64_t latency_ns = now_ns > intended_ns ? now_ns - intended_ns : 0;
  if (window_.contains(intended_ns)) results_.end_to_end.add(latency_ns, records);
  if (live_is_end_to_end_) new_.latency_us.add(static_cast<uint64_t>(latency_ns) / 1000);
}

void Recorder::publish() {
  new_.errors = 0;
  for (const auto& [code, count] : results_.errors) new_.errors += count;
  const std::lock_guard lock(mutex_);
  const uint64_t errors = new_.errors;
  live_.merge(new_);
  live_.errors = errors;
  new_ = {};
}

Live Recorder::take_live() {
  const std::lock_guard lock(mutex_);
  return std::exchange(live_, {});
}

}  // namespace weir::load
