#include "bench/load/results.h"

#include <algorithm>

namespace weir::load {

void Results::merge(const Results& other) {
  acked.merge(other.acked);
  read.merge(other.read);
  acked_total.merge(other.acked_total);
  ack.merge(other.ack);
  end_to_end.merge(other.end_to_end);
  start_delay.merge(other.start_delay);
  catch_up_s = std::max(catch_up_s, other.catch_up_s);
  catch_up_bytes += other.catch_up_bytes;
  end_to_end_coarse |= other.end_to_end_coarse;
  intended += other.intended;
  unanswered += other.unanswered;
  for (const auto& [code, count] : other.errors) errors[code] += count;
  warmup_errors += other.warmup_errors;
  verification.batches += other.verification.batches;
  verification.stamps += other.verification.stamps;
  verification.wrong_crc += other.verification.wrong_crc;
  verification.gaps += other.verification.gaps;
  verification.out_of_order += other.verification.out_of_order;
  verification.not_read += other.verification.not_read;
  if (verification.first_problem.empty()) {
    verification.first_problem = other.verification.first_problem;
  }
  if (failure.empty()) failure = other.failure;
}

}  // namespace weir::load
