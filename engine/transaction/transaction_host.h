#pragma once
// TransactionHost: what the coordinator of one core needs of the rest of the broker: its partitions
// of __transaction_state, the way to the partitions that transactions write to, producer ids. The
// broker implements it.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "io/base/assert.h"
#include "io/mailbox.h"

namespace weir::transaction {

// One batch on its way to stable storage; owned by the coordinator, untouched by it meanwhile.
class TransactionAppend {
 public:
  // in
  model::PartitionIndex partition;
  std::vector<std::byte> batch;  // format 2 with its CRC
  // out
  model::ErrorCode error = model::ErrorCode::none;
  bool outcome_unknown = false;  // the device failed: the batch may or may not survive a restart

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, TransactionAppend& a) { (static_cast<Owner*>(o)->*Method)(a); };
  }
  void complete() {
    ASSERT(function_ != nullptr);
    function_(owner_, *this);
  }

 private:
  void* owner_ = nullptr;
  void (*function_)(void*, TransactionAppend&) = nullptr;
};

class ProducerIdWait {
 public:
  model::ErrorCode error = model::ErrorCode::none;  // out
  model::ProducerId id = model::kNoProducerId;      // out

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, ProducerIdWait& w) { (static_cast<Owner*>(o)->*Method)(w); };
  }
  void complete() { function_(owner_, *this); }

 private:
  void* owner_ = nullptr;
  void (*function_)(void*, ProducerIdWait&) = nullptr;
};

// Where markers for a partition go.
struct MarkerRoute {
  io::CoreIndex core;
  io::Port port;
};

class TransactionHost {
 public:
  virtual ~TransactionHost() = default;

  // Calls complete() from the loop, never from inside this call, once the batch is durable or has
  // failed. Batches of one partition complete in the order they were given.
  virtual void append(TransactionAppend& append) = 0;
  // Calls complete() from the loop with an id that nobody had before.
  virtual void allocate(ProducerIdWait& wait) = 0;
  // Nothing: that life of the topic is over.
  virtual std::optional<MarkerRoute> route(model::PartitionKey key) = 0;
  // The topic of that name now; for records that do not say which life of a topic they mean.
  virtual std::optional<model::TopicSerial> serial_of(std::string_view topic) = 0;
  // Goes into markers; grows with every start.
  virtual int32_t coordinator_epoch() const = 0;
};

}  // namespace weir::transaction
