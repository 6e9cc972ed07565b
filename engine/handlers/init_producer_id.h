#pragma once
// InitProducerId: a number for an idempotent producer, never given to another one. Transactional
// ids are not served.

#include "engine/catalog/producer_ids.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/init_producer_id.h"

namespace weir::handlers {

class InitProducerIdHandler final : public Handler {
 public:
  explicit InitProducerIdHandler(Request& request) : Handler(request) {
    wait_.bind<&InitProducerIdHandler::on_id>(*this);
  }

  void start() override;

 private:
  void on_id(catalog::ProducerIds::Wait& wait);
  void refuse(model::ErrorCode error);

  catalog::ProducerIds::Wait wait_;
};

void start_init_producer_id(Request& request);

}  // namespace weir::handlers
