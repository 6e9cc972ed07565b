#pragma once
// Faults: which faults a simulated world injects and how likely each is. One struct, printed with
// every failure. Probabilities are per operation unless said otherwise; times are nanoseconds of
// virtual time.

#include <cstdint>
#include <string>

#include "io/base/random.h"

namespace weir::io::sim {

// What a file system keeps of directory changes and sizes that were not synced when the power goes:
// posix_minimal any subset of them; ext4_ordered a prefix, and a file's sync covers all before it.
enum class Persistence : uint8_t { posix_minimal, ext4_ordered };

struct Faults {
  // Disk. An EIO on a write leaves each of its sectors old or new; an EIO on a sync loses a seeded
  // part of what it should have flushed, for good, and the next sync succeeds.
  double read_error = 0;
  double write_error = 0;
  double sync_error = 0;
  double sticky_error = 0;  // chance that an EIO makes all later writes and syncs fail too
  double short_read = 0;
  double short_write = 0;
  double interrupted = 0;   // -EINTR or -EAGAIN, without effect
  double stuck_io = 0;      // takes stuck_io_ns instead of disk_latency_ns
  int64_t disk_latency_ns = 60'000;
  int64_t stuck_io_ns = 500'000'000;

  // Power cut.
  Persistence persistence = Persistence::posix_minimal;
  double torn_sector = 0;   // of the unsynced sectors, the share that turns to garbage

  // Network.
  double reset = 0;         // per delivery
  double accept_error = 0;
  double short_transfer = 0.2;
  double network_stall = 0; // per delivery: takes network_stall_ns
  int64_t network_delay_ns = 30'000;
  int64_t network_stall_ns = 300'000'000;

  // Cores and mailboxes.
  double core_stall = 0;    // per turn: the core sleeps core_stall_ns first
  int64_t core_stall_ns = 20'000'000;
  int64_t mailbox_delay_ns = 2'000;

  // Clock, per turn of a core: the wall clock jumps by up to wall_jump_ms either way.
  double wall_jump = 0;
  int64_t wall_jump_ms = 0;

  // Crashes, as the chance of one at that moment.
  double crash_at_event = 0;
  double crash_at_flush = 0;      // a sync or a durable write is submitted, or completes
  double crash_at_directory = 0;  // a directory entry changed, or a directory was synced
  double crash_is_power_cut = 0.5;

  // A quiet world: latencies, reordering and short transfers on the network only.
  static Faults none() { return {}; }
  // Swarm: each kind of fault is off in many worlds and of a seeded strength in the others. Only
  // faults that a correct engine survives while it keeps serving; disk errors and crashes stay off.
  static Faults draw(base::RandomStream& random);
};

std::string to_string(const Faults& faults);

}  // namespace weir::io::sim
