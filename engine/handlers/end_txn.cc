#include "engine/handlers/end_txn.h"

#include "engine/handlers/context.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/wire/messages/end_txn.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithFenced = 2;
constexpr int16_t kFirstVersionWithEpochBump = 5;

class EndTxnHandler final : public Handler {
 public:
  explicit EndTxnHandler(Request& request) : Handler(request) {
    call_.bind_reply<&EndTxnHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    if (in_.transactional_id.empty()) return refuse(ErrorCode::invalid_request);
    call_.transactional_id = in_.transactional_id;
    call_.claim = {model::ProducerId(in_.producer_id), model::ProducerEpoch(in_.producer_epoch)};
    call_.end = {.commit = in_.committed,
                 .bumps_epoch = request_.api_version() >= kFirstVersionWithEpochBump};
    call_.connected_at = request_.peer().connected_at;
    if (!send_to_coordinator(context(), call_)) refuse(ErrorCode::invalid_producer_id_mapping);
  }

 private:
  void on_reply(io::Message&) {
    if (call_.outcome_unknown) {
      return request_.close_connection(std::string(kTransactionOutcomeUnknown));
    }
    if (call_.error != ErrorCode::none) {
      return refuse(fenced_in(call_.error, request_.api_version() >= kFirstVersionWithFenced));
    }
    wire::EndTxnResponse out;
    out.producer_id = call_.given.producer_id.value();
    out.producer_epoch = call_.given.epoch.value();
    request_.respond(out);
  }

  void refuse(ErrorCode error) {
    request_.respond(wire::EndTxnResponse{.error_code = static_cast<int16_t>(error)});
  }

  wire::EndTxnRequest in_;
  transaction::EndTransactionCall call_;
};

}  // namespace

void start_end_txn(Request& request) { request.run<EndTxnHandler>(); }

}  // namespace weir::handlers
