#pragma once
// GroupLog: the partitions of __consumer_offsets whose home is this core, as the coordinator sees
// them. The broker implements it over those partitions.

#include <cstddef>
#include <span>

#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "engine/partition/producer_state.h"
#include "io/base/assert.h"

namespace weir::group {

// One batch on its way to stable storage; owned by the coordinator, untouched by it meanwhile.
class GroupAppend {
 public:
  // in
  model::PartitionIndex partition;
  std::span<const std::byte> batch;  // format 2 with its CRC; valid until complete()
  partition::BatchOrigin origin;     // of batches that belong to a transaction
  // out
  model::ErrorCode error = model::ErrorCode::none;
  // The device failed: the batch may or may not survive a restart. Whoever waits is not answered,
  // its connection is closed (RELIABILITY 2.5).
  bool outcome_unknown = false;

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, GroupAppend& append) { (static_cast<Owner*>(o)->*Method)(append); };
  }
  // Called once by the log.
  void complete() {
    ASSERT(function_ != nullptr);
    function_(owner_, *this);
  }

 private:
  void* owner_ = nullptr;
  void (*function_)(void*, GroupAppend&) = nullptr;
};

class GroupLog {
 public:
  virtual ~GroupLog() = default;

  // Appends the batch and calls append.complete() from the loop, never from inside this call, once
  // it is durable or has failed. Batches of one partition complete in the order they were given.
  virtual void append(GroupAppend& append) = 0;
};

}  // namespace weir::group
