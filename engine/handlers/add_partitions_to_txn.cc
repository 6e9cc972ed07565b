#include "engine/handlers/add_partitions_to_txn.h"

#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/wire/messages/add_partitions_to_txn.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithFenced = 2;
constexpr int16_t kFirstVersionOfBrokers = 4;

// Transactions of one request are asked for one after the other; versions of clients have one.
class AddPartitionsToTxnHandler final : public Handler {
 public:
  explicit AddPartitionsToTxnHandler(Request& request) : Handler(request) {
    call_.bind_reply<&AddPartitionsToTxnHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    if (!of_brokers()) {
      client_ = {.transactional_id = in_.v3_and_below_transactional_id,
                 .producer_id = in_.v3_and_below_producer_id,
                 .producer_epoch = in_.v3_and_below_producer_epoch,
                 .topics = in_.v3_and_below_topics};
      in_.transactions = {&client_, 1};
    }
    results_ = wire::make_array<Response::TransactionResult>(arena(), in_.transactions.size());
    if (results_.is_null()) return too_large();
    next();
  }

 private:
  using Asked = wire::AddPartitionsToTxnRequest;
  using Response = wire::AddPartitionsToTxnResponse;

  bool of_brokers() const { return request_.api_version() >= kFirstVersionOfBrokers; }

  // The next transaction that must be asked for; answers when there is none.
  void next() {
    while (position_ < in_.transactions.size()) {
      const Asked::Transaction& asked = in_.transactions[position_];
      if (!prepare(asked)) return too_large();
      if (asked.transactional_id.empty()) {
        set_errors(ErrorCode::invalid_request);
      } else if (refused_) {
        refuse_others();
      } else if (!claims_.empty()) {
        call_.transactional_id = asked.transactional_id;
        call_.claim = {model::ProducerId(asked.producer_id),
                       model::ProducerEpoch(asked.producer_epoch)};
        call_.partitions = claims_;
        call_.verify_only = asked.verify_only;
        if (send_to_coordinator(context(), call_)) return;
        set_errors(ErrorCode::invalid_producer_id_mapping);
      }
      ++position_;
    }
    respond();
  }

  // Fills in the result with every partition; partitions that are there become claims.
  bool prepare(const Asked::Transaction& asked) {
    claims_.clear();
    answers_.clear();
    refused_ = false;
    auto& result = results_[position_];
    result.transactional_id = asked.transactional_id;
    result.topic_results = wire::make_array<Response::TopicResult>(arena(), asked.topics.size());
    if (result.topic_results.is_null()) return false;
    for (size_t i = 0; i < asked.topics.size(); ++i) {
      const Asked::Topic& from = asked.topics[i];
      auto& topic = result.topic_results[i];
      topic.name = from.name;
      topic.results_by_partition =
          wire::make_array<Response::PartitionResult>(arena(), from.partitions.size());
      if (topic.results_by_partition.is_null()) return false;
      const catalog::Topic* const found = context().catalog.find(from.name);
      for (size_t k = 0; k < from.partitions.size(); ++k) {
        auto& answer = topic.results_by_partition[k];
        answer.partition_index = from.partitions[k];
        answers_.push_back(&answer);
        const ErrorCode error = check(found, answer.partition_index);
        answer.partition_error_code = static_cast<int16_t>(error);
        refused_ = refused_ || error != ErrorCode::none;
        if (error != ErrorCode::none) continue;
        claims_.push_back({.key = {found->serial, model::PartitionIndex(answer.partition_index)},
                           .topic = from.name});
      }
    }
    return true;
  }

  ErrorCode check(const catalog::Topic* topic, int32_t partition) const {
    if (topic == nullptr || partition < 0 || partition >= topic->partition_count) {
      return ErrorCode::unknown_topic_or_partition;
    }
    // Offsets are added by AddOffsetsToTxn; brokers may say it in this way too.
    const bool forbidden = topic->internal && !of_brokers();
    return forbidden ? ErrorCode::topic_authorization_failed : ErrorCode::none;
  }

  void set_errors(ErrorCode error) {
    for (auto* answer : answers_) answer->partition_error_code = static_cast<int16_t>(error);
  }
  // All or nothing.
  void refuse_others() {
    for (auto* answer : answers_) {
      if (answer->partition_error_code != 0) continue;
      answer->partition_error_code = static_cast<int16_t>(ErrorCode::operation_not_attempted);
    }
  }

  void on_reply(io::Message&) {
    if (call_.outcome_unknown) {
      return request_.close_connection(std::string(kTransactionOutcomeUnknown));
    }
    for (size_t i = 0; i < answers_.size(); ++i) {
      const ErrorCode error = call_.error != ErrorCode::none ? call_.error : claims_[i].error;
      answers_[i]->partition_error_code = static_cast<int16_t>(in_version(error));
    }
    ++position_;
    next();
  }

  // Version 4 says TRANSACTION_ABORTABLE although it came with 5, as Kafka does.
  ErrorCode in_version(ErrorCode error) const {
    return fenced_in(error, request_.api_version() >= kFirstVersionWithFenced);
  }

  void respond() {
    Response out;
    if (of_brokers()) {
      out.results_by_transaction = results_;
    } else {
      out.results_by_topic_v3_and_below = results_[0].topic_results;
    }
    request_.respond(out);
  }
  void too_large() { request_.close_connection("request too large for its memory"); }

  Asked in_;
  Asked::Transaction client_;
  wire::Array<Response::TransactionResult> results_;
  size_t position_ = 0;
  std::vector<transaction::PartitionClaim> claims_;     // of the transaction at work
  std::vector<Response::PartitionResult*> answers_;     // in the order of its partitions
  bool refused_ = false;
  transaction::AddPartitionsCall call_;
};

}  // namespace

void start_add_partitions_to_txn(Request& request) { request.run<AddPartitionsToTxnHandler>(); }

}  // namespace weir::handlers
