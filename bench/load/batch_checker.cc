#include "bench/load/batch_checker.h"

#include <fmt/format.h>

#include "bench/load/batch_factory.h"
#include "bench/load/times.h"

namespace weir::load {

void BatchChecker::start_over(int64_t position) {
  rules_.position = position;
  last_sequence_.clear();
}

void BatchChecker::check(std::span<const std::byte> records, int64_t now_ns, Flow& flow,
                         Recorder& recorder) {
  // An answer may end within a batch.
  while (log::starts_with_batch(records)) {
    const log::BatchView batch(records);
    records = records.subspan(batch.size());
    check_batch(batch, now_ns, flow, recorder);
  }
}

void BatchChecker::check_batch(const log::BatchView& batch, int64_t now_ns, Flow& flow,
                               Recorder& recorder) {
  Verification& found = recorder.results().verification;
  const int64_t base_offset = batch.base_offset().value();
  const int64_t next_offset = batch.next_offset().value();
  // The first one may begin before what was asked for.
  if (next_offset <= rules_.position) return;
  ++found.batches;
  if (batch.crc() != batch.computed_crc()) {
    found.problem(found.wrong_crc, fmt::format("partition {} offset {}: wrong CRC",
                                               rules_.partition, base_offset));
  }
  if (base_offset > rules_.position && !rules_.gaps_allowed) {
    found.problem(found.gaps, fmt::format("partition {}: offset {} follows on {}",
                                          rules_.partition, base_offset, rules_.position));
  }
  rules_.position = next_offset;
  if (batch.is_control()) return;
  const auto count = static_cast<uint64_t>(batch.record_count());
  flow.add(count, batch.size());
  auto records = batch.records();
  log::Record first;
  const bool readable = batch.compression_bits() == 0 && log::read_record(records, first);
  const auto stamp = readable && first.value ? read_stamp(*first.value) : std::nullopt;
  if (!stamp) return check_time(batch, now_ns, recorder);
  if (stamp->producer >> 16 != rules_.run_id) return;
  ++found.stamps;
  const auto [last, is_first] = last_sequence_.try_emplace(stamp->producer, stamp->sequence);
  if (!is_first && stamp->sequence <= last->second) {
    found.problem(found.out_of_order,
                  fmt::format("partition {} offset {}: batch {} of producer {} follows on {}",
                              rules_.partition, base_offset, stamp->sequence,
                              stamp->producer & 0xffff, last->second));
  }
  last->second = stamp->sequence;
  recorder.arrived(stamp->intended_ns, now_ns, count);
}

// A batch without stamp says when it was meant to start in its timestamps.
void BatchChecker::check_time(const log::BatchView& batch, int64_t now_ns, Recorder& recorder) {
  if (batch.base_timestamp() < rules_.wall_from_ms) return;
  recorder.results().end_to_end_coarse = true;
  const int64_t age_ms = wall_ms() - batch.base_timestamp();
  recorder.arrived(now_ns - age_ms * 1'000'000, now_ns,
                   static_cast<uint64_t>(batch.record_count()));
}

}  // namespace weir::load
