#pragma once
// ProducerIds: gives out producer ids on one core, each to one producer only, for ever. Ids come in
// blocks that core 0 reserved durably before; what is left of a block when the process ends is
// never used.

#include <cstdint>

#include "engine/catalog/messages.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "io/base/intrusive_list.h"
#include "io/core_io.h"
#include "io/op.h"

namespace weir::catalog {

class ProducerIds {
 public:
  // Who waits for an id; embedded in its owner, which must not go before the answer.
  class Wait : public base::ListHook {
   public:
    // The answer calls (owner.*Method)(wait), from the loop.
    template <auto Method, class Owner>
    void bind(Owner& owner) {
      owner_ = &owner;
      function_ = [](void* o, Wait& w) { (static_cast<Owner*>(o)->*Method)(w); };
    }
    model::ErrorCode error = model::ErrorCode::none;
    model::ProducerId id = model::kNoProducerId;

   private:
    friend class ProducerIds;
    void* owner_ = nullptr;
    void (*function_)(void*, Wait&) = nullptr;
  };

  explicit ProducerIds(io::CoreIo& core);

  void allocate(Wait& wait);

 private:
  void on_block(io::Message& message);
  void on_answer(io::Op& op);

  io::CoreIo& core_;
  ProducerIdBlock request_;  // for the next block
  base::IntrusiveList<Wait> waiting_;
  model::ErrorCode error_ = model::ErrorCode::none;  // of the last request for a block
  model::ProducerId next_{};                         // first id of the block not given out
  int64_t left_ = 0;                                 // ids left in the block
  io::Op answer_op_;
};

}  // namespace weir::catalog
