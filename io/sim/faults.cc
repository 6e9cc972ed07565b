#include "io/sim/faults.h"

#include <fmt/format.h>

namespace weir::io::sim {
namespace {

// Zero in one world of two, else up to `most`.
double strength(base::RandomStream& random, double most) {
  if (random.chance(0.5)) return 0;
  return most * static_cast<double>(random.between(1, 16)) / 16;
}

int64_t one_of(base::RandomStream& random, int64_t a, int64_t b, int64_t c) {
  const uint64_t pick = random.below(3);
  return pick == 0 ? a : pick == 1 ? b : c;
}

}  // namespace

Faults Faults::draw(base::RandomStream& random) {
  Faults faults;
  faults.short_read = strength(random, 0.2);
  faults.short_write = strength(random, 0.1);
  faults.interrupted = strength(random, 0.05);
  faults.stuck_io = strength(random, 0.005);
  faults.disk_latency_ns = one_of(random, 20'000, 100'000, 2'000'000);
  faults.persistence =
      random.chance(0.75) ? Persistence::posix_minimal : Persistence::ext4_ordered;
  faults.torn_sector = strength(random, 0.3);
  faults.reset = strength(random, 0.01);
  faults.accept_error = strength(random, 0.2);
  faults.short_transfer = strength(random, 0.8);
  faults.network_stall = strength(random, 0.01);
  faults.network_delay_ns = one_of(random, 5'000, 50'000, 1'000'000);
  faults.core_stall = strength(random, 0.002);
  faults.mailbox_delay_ns = one_of(random, 300, 5'000, 200'000);
  faults.wall_jump = strength(random, 0.001);
  faults.wall_jump_ms = one_of(random, 500, 3'600'000, 31'536'000'000);
  return faults;
}

std::string to_string(const Faults& f) {
  return fmt::format(
      "disk[read_error={} write_error={} sync_error={} sticky={} short_read={:.3f} "
      "short_write={:.3f} interrupted={:.3f} stuck={:.4f} latency_us={}] "
      "power[{} torn={:.3f}] net[reset={:.4f} accept_error={:.3f} short={:.3f} stall={:.4f} "
      "delay_us={}] core[stall={:.4f} mailbox_us={}] wall[jump={:.4f} ms={}] "
      "crash[event={} flush={} directory={} power_cut={:.2f}]",
      f.read_error, f.write_error, f.sync_error, f.sticky_error, f.short_read, f.short_write,
      f.interrupted, f.stuck_io, f.disk_latency_ns / 1000,
      f.persistence == Persistence::posix_minimal ? "posix" : "ext4", f.torn_sector, f.reset,
      f.accept_error, f.short_transfer, f.network_stall, f.network_delay_ns / 1000, f.core_stall,
      f.mailbox_delay_ns / 1000, f.wall_jump, f.wall_jump_ms, f.crash_at_event, f.crash_at_flush,
      f.crash_at_directory, f.crash_is_power_cut);
}

}  // namespace weir::io::sim
