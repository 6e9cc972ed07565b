#include "engine/handlers/txn_offset_commit.h"

#include <deque>
#include <vector>

#include "engine/catalog/topic_name.h"
#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/wire/messages/txn_offset_commit.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithAbortable = 4;
constexpr int16_t kFirstVersionThatAdds = 5;

// First the transaction's coordinator says whether the group's offsets are part of the transaction,
// or adds them; then the group's home core writes them, under the number it was given.
class TxnOffsetCommitHandler final : public GroupHandler {
 public:
  explicit TxnOffsetCommitHandler(Request& request) : GroupHandler(request) {
    add_.bind_reply<&TxnOffsetCommitHandler::on_added>(*this);
    commit_.bind_reply<&TxnOffsetCommitHandler::on_committed>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
    if (out_.topics.is_null()) return too_large();
    for (size_t i = 0; i < out_.topics.size(); ++i) {
      const auto& topic = in_.topics[i];
      out_.topics[i].name = topic.name;
      out_.topics[i].partitions =
          wire::make_array<Response::Partition>(arena(), topic.partitions.size());
      if (out_.topics[i].partitions.is_null()) return too_large();
      for (size_t k = 0; k < topic.partitions.size(); ++k) {
        out_.topics[i].partitions[k].partition_index = topic.partitions[k].partition_index;
      }
    }
    if (in_.group_id.empty()) return refuse(ErrorCode::invalid_group_id);
    if (in_.transactional_id.empty()) return refuse(ErrorCode::invalid_request);
    with_offsets_topic();
  }

 private:
  using Response = wire::TxnOffsetCommitResponse;
  using CommitRequest = wire::OffsetCommitRequest;

  void proceed() override {
    if (!collect()) return too_large();
    if (items_.empty()) return request_.respond(out_);
    claim_ = {.key = offsets_key_of(in_.group_id), .topic = catalog::kConsumerOffsetsTopic};
    add_.transactional_id = in_.transactional_id;
    add_.claim = {model::ProducerId(in_.producer_id), model::ProducerEpoch(in_.producer_epoch)};
    add_.partitions = {&claim_, 1};
    add_.verify_only = request_.api_version() < kFirstVersionThatAdds;
    add_.client_version = add_.verify_only ? int16_t{0} : transaction::kEpochBumpVersion;
    if (!send_to_coordinator(context(), add_)) refuse(ErrorCode::invalid_producer_id_mapping);
  }

  // What names no topic or partition is answered here; the rest takes the form of an OffsetCommit.
  bool collect() {
    for (size_t i = 0; i < in_.topics.size(); ++i) {
      const auto& asked = in_.topics[i];
      const catalog::Topic* const topic = context().catalog.find(asked.name);
      auto partitions =
          wire::make_array<CommitRequest::Partition>(arena(), asked.partitions.size());
      if (partitions.is_null()) return false;
      for (size_t k = 0; k < asked.partitions.size(); ++k) {
        const auto& from = asked.partitions[k];
        auto& answer = out_.topics[i].partitions[k];
        if (topic == nullptr || from.partition_index < 0 ||
            from.partition_index >= topic->partition_count) {
          answer.error_code = static_cast<int16_t>(ErrorCode::unknown_topic_or_partition);
          continue;
        }
        partitions[k].partition_index = from.partition_index;
        partitions[k].committed_offset = from.committed_offset;
        partitions[k].committed_leader_epoch = from.committed_leader_epoch;
        partitions[k].committed_metadata = from.committed_metadata;
        items_.push_back({.topic = asked.name,
                          .topic_id = topic->id,
                          .partition = &partitions[k],
                          .answer = &commit_answers_.emplace_back()});
        answers_.push_back(&answer);
      }
    }
    return true;
  }

  void on_added(io::Message&) {
    if (add_.outcome_unknown) {
      return request_.close_connection(std::string(kTransactionOutcomeUnknown));
    }
    const ErrorCode error = add_.error != ErrorCode::none ? add_.error : claim_.error;
    if (error != ErrorCode::none) return refuse_items(error);
    commit_request_.group_id = in_.group_id;
    commit_request_.generation_id_or_member_epoch = in_.generation_id;
    commit_request_.member_id = in_.member_id;
    commit_request_.group_instance_id = in_.group_instance_id;
    commit_.request = &commit_request_;
    commit_.items = items_;
    commit_.transactional = true;
    commit_.producer_id = add_.claim.producer_id;
    commit_.producer_epoch = add_.claim.epoch;
    commit_.transaction = add_.transaction;
    send(commit_, in_.group_id);
  }

  void on_committed(io::Message&) {
    if (!has_outcome(commit_)) return;
    for (size_t i = 0; i < answers_.size(); ++i) {
      const auto error = static_cast<ErrorCode>(commit_answers_[i].error_code);
      answers_[i]->error_code = static_cast<int16_t>(in_version(error));
    }
    request_.respond(out_);
  }

  ErrorCode in_version(ErrorCode error) const {
    const bool knows_abortable = request_.api_version() >= kFirstVersionWithAbortable;
    // The partition says so of what comes after the transaction's end.
    if (error == ErrorCode::invalid_txn_state && knows_abortable) {
      return ErrorCode::transaction_abortable;
    }
    return abortable_in(fenced_in(error, false), knows_abortable);
  }

  void refuse_items(ErrorCode error) {
    for (auto* answer : answers_) answer->error_code = static_cast<int16_t>(in_version(error));
    request_.respond(out_);
  }
  void refuse(ErrorCode error) override {
    for (auto& topic : out_.topics) {
      for (auto& partition : topic.partitions) partition.error_code = static_cast<int16_t>(error);
    }
    request_.respond(out_);
  }
  void too_large() { request_.close_connection("request too large for its memory"); }

  wire::TxnOffsetCommitRequest in_;
  Response out_;
  transaction::PartitionClaim claim_;
  transaction::AddPartitionsCall add_;
  CommitRequest commit_request_;
  std::vector<group::CommitItem> items_;
  std::deque<wire::OffsetCommitResponse::Partition> commit_answers_;  // of items_, in place
  std::vector<Response::Partition*> answers_;                         // of items_
  group::OffsetCommitCall commit_;
};

}  // namespace

void start_txn_offset_commit(Request& request) { request.run<TxnOffsetCommitHandler>(); }

}  // namespace weir::handlers
