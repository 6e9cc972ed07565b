#pragma once
// InitProducerId: a number for an idempotent producer, never given to another one; or the id and
// epoch of a transactional id, from its coordinator, which fences whoever had it before (KIP-98,
// KIP-360).

#include "engine/catalog/producer_ids.h"
#include "engine/handlers/request.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/init_producer_id.h"

namespace weir::handlers {

class InitProducerIdHandler final : public Handler {
 public:
  explicit InitProducerIdHandler(Request& request) : Handler(request) {
    wait_.bind<&InitProducerIdHandler::on_id>(*this);
    call_.bind_reply<&InitProducerIdHandler::on_coordinator>(*this);
  }

  void start() override;

 private:
  void on_id(catalog::ProducerIds::Wait& wait);
  void on_topic();
  void on_coordinator(io::Message&);
  void respond(int64_t producer_id, int16_t producer_epoch);
  void refuse(model::ErrorCode error);

  wire::InitProducerIdRequest in_;
  catalog::ProducerIds::Wait wait_;
  StateTopic topic_;
  transaction::InitProducerIdCall call_;
};

void start_init_producer_id(Request& request);

}  // namespace weir::handlers
