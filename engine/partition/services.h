#pragma once
// Services: what every partition of a core shares. Built by broker::Core, outlives the partitions.

#include <cstdint>
#include <string>

#include "engine/journal/journal.h"
#include "engine/log/buffer_pool.h"
#include "engine/log/segment_pool.h"
#include "engine/log/segment_remover.h"
#include "engine/partition/metrics.h"
#include "engine/partition/retention_clock.h"
#include "engine/partition/segment_primer.h"
#include "engine/partition/space_reserve.h"
#include "io/base/intrusive_list.h"
#include "io/core_io.h"

namespace weir::partition {

class Partition;

// Memory of append buffers beyond what is not yet in segments: recent bytes for tail readers. When
// there is more than the budget, the partitions that have been quiet for longest give theirs back
// first.
struct TailCache {
  size_t budget_bytes = 256u << 20;
  base::IntrusiveList<Partition, base::TaggedHook<2>> by_age;  // quiet longest first
};

struct Services {
  io::CoreIo& io;
  journal::Journal& journal;
  log::BufferPool& pool;
  TailCache& tail_cache;
  Metrics& metrics;
  log::SegmentPool& segment_pool;
  log::SegmentRemover& remover;
  RetentionClock& retention_clock;
  SegmentPrimer& primer;
  SpaceReserve& reserve;
  std::string topics_directory;
  int32_t leader_epoch = 0;  // of everything written during this run
};

}  // namespace weir::partition
