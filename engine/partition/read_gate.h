#pragma once
// ReadGate: how much memory the reads of one core may hold until their bytes have been sent: recent
// bytes that are kept alive for them, and what was read from files for them, each counted once
// however many share it (BufferPool::leased_bytes). The last quarter is for little: while less is
// left, a read that has something already makes do with that, and one that has nothing takes
// kLittle, so that a few consumers who stand still with large answers do not stop all others. At
// the limit a read that has nothing waits in line, for kPatience_ns at most, and is then answered
// with nothing. It must end by itself: a fetch over several cores may hold memory here and wait
// there.
//
// A limit for what begins: who was let in takes at most one more piece of a segment. One core;
// owned by PartitionTable.

#include <cstddef>
#include <cstdint>

#include "engine/partition/services.h"
#include "io/base/intrusive_list.h"
#include "io/timers.h"

namespace weir::partition {

class ReadJob;

class ReadGate {
 public:
  static constexpr int64_t kPatience_ns = 500'000'000;
  static constexpr size_t kLittle = 128 * 1024;  // a first batch that is larger is read whole

  ReadGate(Services& services, size_t size_max);
  ~ReadGate();
  ReadGate(const ReadGate&) = delete;

  // Whether a read may take all that it wants; whether it may take a little, and one that has not
  // waited yet does not overtake those that do.
  bool roomy() const { return services_.pool.leased_bytes() < size_max_ - size_max_ / 4; }
  bool open() const { return services_.pool.leased_bytes() < size_max_; }
  bool admits() const { return open() && waiting_.empty(); }
  // job.admitted() when there is memory, or job.turned_away().
  void wait(ReadJob& job);
  // Memory came back.
  void look();

 private:
  void on_time();
  void arm();

  Services& services_;
  const size_t size_max_;
  base::IntrusiveList<ReadJob> waiting_;  // longest first
  io::Timer timer_;                       // for the first of them
};

}  // namespace weir::partition
