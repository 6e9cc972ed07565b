#include "engine/catalog/producer_ids.h"

#include "engine/model/ports.h"
#include "io/base/assert.h"

namespace weir::catalog {

ProducerIds::ProducerIds(io::CoreIo& core) : core_(core) {
  request_.bind_reply<&ProducerIds::on_block>(*this);
  answer_op_.bind<&ProducerIds::on_answer>(*this);
}

void ProducerIds::allocate(Wait& wait) {
  ASSERT(!wait.linked() && wait.function_ != nullptr);
  waiting_.push_back(wait);
  if (!request_.away() && !answer_op_.armed()) core_.loop.post(answer_op_);
}

void ProducerIds::on_block(io::Message&) {
  error_ = request_.error;
  if (error_ == model::ErrorCode::none) {
    next_ = request_.first;
    left_ = request_.count;
  }
  if (!answer_op_.armed()) core_.loop.post(answer_op_);
}

// Answers those who wait; asks for the next block when ids run out, tells everyone when it was
// refused.
void ProducerIds::on_answer(io::Op&) {
  const model::ErrorCode error = std::exchange(error_, model::ErrorCode::none);
  while (!waiting_.empty()) {
    if (error == model::ErrorCode::none && left_ == 0) break;
    Wait& wait = *waiting_.pop_front();
    wait.error = error;
    wait.id = model::kNoProducerId;
    if (error == model::ErrorCode::none) {
      wait.id = next_;
      ++next_;
      --left_;
    }
    wait.function_(wait.owner_, wait);
  }
  if (!waiting_.empty() && !request_.away()) {
    core_.mailboxes.send(io::CoreIndex(0), model::ports::kProducerIds, request_);
  }
}

}  // namespace weir::catalog
