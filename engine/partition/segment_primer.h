#pragma once
// SegmentPrimer: while a core is idle, writes zeros where busy partitions will append next (DESIGN
// 4.4). A write into blocks that are merely allocated has to mark them as written, and that is
// metadata to make durable with every commit; blocks with anything in them take it at the speed of
// the device. Nothing depends on it: what is not primed is slower, not different.
//
// Who asks: a partition that wrote large runs straight to its segment, a burst of them. It gets as
// much as the burst had, up to Config::prime_bytes_max, inside what is allocated anyway. The first
// commit ends it until the core is quiet again; it takes half of the disk's time at most. One per
// core.

#include <cstdint>

#include "engine/journal/journal.h"
#include "engine/partition/config.h"
#include "engine/partition/metrics.h"
#include "io/base/intrusive_list.h"
#include "io/core_io.h"

namespace weir::partition {

class SegmentKeeper;
using PrimerHook = base::TaggedHook<4>;

class SegmentPrimer {
 public:
  SegmentPrimer(io::CoreIo& core, const journal::Journal& journal, const Config& config,
                Metrics& metrics);
  SegmentPrimer(const SegmentPrimer&) = delete;
  ~SegmentPrimer();

  const Config& config() const { return config_; }
  // The keeper is asked to prime() a piece once the core is quiet, and again while it says true.
  void add(SegmentKeeper& keeper);
  // The piece that a keeper was asked for is over.
  void on_piece(SegmentKeeper& keeper, uint64_t size);
  // Before the core stops: no further piece is begun.
  void stop();

 private:
  void on_timer();
  bool quiet();
  void give_memory_back();

  io::CoreIo& core_;
  const journal::Journal& journal_;
  const Config& config_;
  Metrics& metrics_;
  io::Timer timer_;
  base::IntrusiveList<SegmentKeeper, PrimerHook> waiting_;
  std::byte* zeros_ = nullptr;  // Config::prime_piece_bytes, while there is work
  uint64_t commits_seen_ = 0;
  io::Instant started_{};       // of the piece under way
  bool in_piece_ = false;
  bool stopped_ = false;
};

}  // namespace weir::partition
