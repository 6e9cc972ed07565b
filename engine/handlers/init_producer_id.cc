#include "engine/handlers/init_producer_id.h"

#include "engine/handlers/context.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::InitProducerIdResponse;

void start_init_producer_id(Request& request) { request.run<InitProducerIdHandler>(); }

void InitProducerIdHandler::start() {
  wire::InitProducerIdRequest in;
  if (!request_.decode(in)) return;
  if (in.transactional_id) {
    // An answer that may be retried (COORDINATOR_NOT_AVAILABLE) would keep a transactional producer
    // waiting until its timeout and say nothing; this one makes every client give up at once.
    return refuse(in.transactional_id->empty() ? ErrorCode::invalid_request
                                               : ErrorCode::transactional_id_authorization_failed);
  }
  // An id without its epoch, or the other way round.
  if ((in.producer_id == -1) != (in.producer_epoch == -1))
    return refuse(ErrorCode::invalid_request);
  // Without a transactional id nothing is continued: a new id, whatever the producer had.
  context().producer_ids.allocate(wait_);
}

void InitProducerIdHandler::on_id(catalog::ProducerIds::Wait& wait) {
  if (wait.error != ErrorCode::none) return refuse(wait.error);
  Response out;
  out.producer_id = wait.id.value();
  out.producer_epoch = 0;
  request_.respond(out);
}

void InitProducerIdHandler::refuse(ErrorCode error) {
  Response out;
  out.error_code = static_cast<int16_t>(error);
  out.producer_id = -1;
  out.producer_epoch = -1;
  request_.respond(out);
}

}  // namespace weir::handlers
