#include "engine/handlers/init_producer_id.h"

#include "engine/handlers/context.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::InitProducerIdResponse;

namespace {

constexpr int16_t kFirstVersionWithFenced = 4;

}  // namespace

void start_init_producer_id(Request& request) { request.run<InitProducerIdHandler>(); }

void InitProducerIdHandler::start() {
  if (!request_.decode(in_)) return;
  // An id without its epoch, or the other way round.
  if ((in_.producer_id == -1) != (in_.producer_epoch == -1)) {
    return refuse(ErrorCode::invalid_request);
  }
  // Without a transactional id nothing is continued: a new id, whatever the producer had.
  if (!in_.transactional_id) return context().producer_ids.allocate(wait_);
  if (in_.transactional_id->empty()) return refuse(ErrorCode::invalid_request);
  topic_.ensure<&InitProducerIdHandler::on_topic>(context(), *this);
}

void InitProducerIdHandler::on_topic() {
  call_.transactional_id = *in_.transactional_id;
  call_.timeout_ms = in_.transaction_timeout_ms;
  call_.claim = {model::ProducerId(in_.producer_id), model::ProducerEpoch(in_.producer_epoch)};
  if (!send_to_coordinator(context(), call_)) refuse(ErrorCode::coordinator_not_available);
}

void InitProducerIdHandler::on_coordinator(io::Message&) {
  if (call_.outcome_unknown) {
    return request_.close_connection(std::string(kTransactionOutcomeUnknown));
  }
  if (call_.error != ErrorCode::none) {
    const bool knows_fenced = request_.api_version() >= kFirstVersionWithFenced;
    return refuse(fenced_in(call_.error, knows_fenced));
  }
  respond(call_.given.producer_id.value(), call_.given.epoch.value());
}

void InitProducerIdHandler::on_id(catalog::ProducerIds::Wait& wait) {
  if (wait.error != ErrorCode::none) return refuse(wait.error);
  respond(wait.id.value(), 0);
}

void InitProducerIdHandler::respond(int64_t producer_id, int16_t producer_epoch) {
  Response out;
  out.producer_id = producer_id;
  out.producer_epoch = producer_epoch;
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
