#pragma once
// Produce: batches are checked here, on the core of the connection, and appended by their
// partitions' home cores. The answer leaves when every partition has told what became of its batch,
// which is when the batch is on stable storage: acks 1 and -1 mean the same.
//
//   start ─▶ resolve topics ─▶ validate, send AppendRequests ─▶ on_reply … ─▶ respond
//                                   └─ transactional: ask the coordinator first ─┘
//
// Every transactional batch is let in by the coordinator of its transactional id, which knows the
// partitions of the open transaction, or adds them where the version says so (KIP-890); so nothing
// of a zombie gets as far as a partition.
//
// acks 0: no answer; an error closes the connection. A device that failed under a batch closes it
// too, without an answer for anything in the request (RELIABILITY 2.5).

#include <memory>
#include <span>
#include <vector>

#include "engine/handlers/quota_buckets.h"
#include "engine/handlers/request.h"
#include "engine/log/batch_validator.h"
#include "engine/model/error_code.h"
#include "engine/partition/messages.h"
#include "engine/transaction/messages.h"
#include "engine/wire/messages/produce.h"

namespace weir::catalog {
struct Topic;
}

namespace weir::handlers {

class ProduceHandler final : public Handler {
 public:
  explicit ProduceHandler(Request& request) : Handler(request) {
    charge_.bind_reply<&ProduceHandler::on_reply>(*this);
  }
  ~ProduceHandler() override;

  void start() override;

 private:
  using Response = wire::ProduceResponse;

  // One partition of the request. append is sent when the batch is good; log_start asks for the log
  // start offset that belongs to some errors.
  struct Part {
    explicit Part(ProduceHandler& owner) { append.bind_reply<&ProduceHandler::on_reply>(owner); }

    partition::AppendRequest append;
    partition::OffsetsRequest* log_start = nullptr;  // in the arena
    const catalog::Topic* topic = nullptr;           // while start() runs; null: refused
    Response::Partition* out = nullptr;
    std::span<std::byte> records;
    int64_t append_time_ms = -1;  // what the batch was stamped with
    bool duplicate = false;       // the request names the partition more than once
    bool answered = false;        // by the first part of the same partition
    io::CoreIndex home;           // of a batch that waits for the coordinator
  };
  // The transaction that batches of this request belong to.
  struct Transaction {
    explicit Transaction(ProduceHandler& owner) {
      call.bind_reply<&ProduceHandler::on_coordinator>(owner);
    }
    transaction::AddPartitionsCall call;
    std::vector<transaction::PartitionClaim> claims;
    std::vector<Part*> parts;  // of the claims
  };

  bool resolve();
  void resolve_topic(const wire::ProduceRequest::Topic& in, Response::Topic& out);
  void mark_duplicates();
  bool lacks_transactional_id() const;
  void append(Part& part);
  void charge_quota();
  bool keep(std::span<std::byte>& batch);
  void join_transaction(Part& part, std::span<const std::byte> batch);
  void ask_coordinator();
  void on_coordinator(io::Message&);
  model::ErrorCode in_version(model::ErrorCode error) const;
  void refuse(Part& part, model::ErrorCode error, std::string_view message = {});
  void refuse_all(model::ErrorCode error);
  void refuse_batch(Part& part, const log::BatchVerdict& verdict);
  void ask_log_start(Part& part);
  void on_reply(io::Message&);
  void finish();
  void report(Part& part);
  void answer_once();
  bool merge_topics();

  wire::ProduceRequest in_;
  Response out_;
  Part* parts_ = nullptr;  // in the arena, destroyed with the handler
  size_t part_count_ = 0;
  size_t outstanding_ = 0;  // messages away, and 1 while start() runs
  QuotaCharge charge_;      // of the bytes of the request, beside the appends
  std::unique_ptr<Transaction> transaction_;  // null: no batch is transactional
};

void start_produce(Request& request);

}  // namespace weir::handlers
