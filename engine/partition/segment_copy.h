#pragma once
// SegmentCopy: batches written as a cleaned segment (log/cleaned_file.h), straight line on one
// core: for tools, while no broker runs. Until commit() nothing counts; what is not committed is
// removed here, or by the next start.

#include <cstdint>
#include <span>
#include <string>

#include "engine/log/buffer_pool.h"
#include "engine/log/cleaned_file.h"
#include "engine/log/file_names.h"
#include "io/core_io.h"

namespace weir::partition {

class SegmentCopy {
 public:
  // `epoch`: under which the first offset of the range was written.
  SegmentCopy(io::CoreIo& core, std::string directory, const log::SegmentName& name,
              int32_t epoch);
  ~SegmentCopy();
  SegmentCopy(const SegmentCopy&) = delete;
  SegmentCopy& operator=(const SegmentCopy&) = delete;

  base::Status start();
  // Batches in the order of their offsets, inside the range of the name.
  base::Status add(std::span<const std::byte> batch);
  // Durable when it comes back. Where the batches end before the range does, a batch without
  // records says where that is.
  base::Status commit();

 private:
  void add_end();
  template <class Begin>
  base::Status step(const Begin& begin);

  io::CoreIo& core_;
  std::string directory_;
  log::SegmentName name_;
  log::BufferPool pool_;
  log::CleanedFile file_;
  int32_t epoch_;  // of the last batch
};

}  // namespace weir::partition
