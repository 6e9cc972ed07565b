#include "engine/handlers/add_offsets_to_txn.h"

#include "engine/catalog/topic_name.h"
#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/wire/messages/add_offsets_to_txn.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithFenced = 2;

class AddOffsetsToTxnHandler final : public GroupHandler {
 public:
  explicit AddOffsetsToTxnHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&AddOffsetsToTxnHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    if (in_.transactional_id.empty()) return refuse(ErrorCode::invalid_request);
    with_offsets_topic();
  }

 private:
  void proceed() override {
    claim_ = {.key = offsets_key_of(in_.group_id), .topic = catalog::kConsumerOffsetsTopic};
    call_.transactional_id = in_.transactional_id;
    call_.claim = {model::ProducerId(in_.producer_id), model::ProducerEpoch(in_.producer_epoch)};
    call_.partitions = {&claim_, 1};
    if (!send_to_coordinator(context(), call_)) refuse(ErrorCode::invalid_producer_id_mapping);
  }

  void on_reply(io::Message&) {
    if (call_.outcome_unknown) {
      return request_.close_connection(std::string(kTransactionOutcomeUnknown));
    }
    refuse(fenced_in(call_.error, request_.api_version() >= kFirstVersionWithFenced));
  }

  void refuse(ErrorCode error) override {
    request_.respond(wire::AddOffsetsToTxnResponse{.error_code = static_cast<int16_t>(error)});
  }

  wire::AddOffsetsToTxnRequest in_;
  transaction::PartitionClaim claim_;
  transaction::AddPartitionsCall call_;
};

}  // namespace

void start_add_offsets_to_txn(Request& request) { request.run<AddOffsetsToTxnHandler>(); }

}  // namespace weir::handlers
