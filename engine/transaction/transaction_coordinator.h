#pragma once
// TransactionCoordinator: the transactional ids of one core, whole. Owned by broker::Core, which
// feeds it the stored batches of the core's partitions of __transaction_state, then lets it serve.
//
//   coordinator.replay(partition, batches);   every stored chunk, in order
//   coordinator.replay_done();                answers calls from here on
//   coordinator.start();                      once every core serves its partitions: transactions
//                                             that were ending when the broker stopped end now
//   coordinator.stop();                       parked calls come back; drain the loop until idle()
//
// For each id one thing happens at a time: an operation makes a value durable and, when that ends a
// transaction, has the markers written and makes the completion durable. Calls that come meanwhile
// wait in line, so their order is the client's order. EndTxn is answered when all markers are on
// stable storage: whoever was told so and reads, finds the transaction.
//
//   allocating ─▶ writing ─┬─────────────────────────────────────────────▶ (over)
//                          └─ prepare_* ─▶ marking ⇄ retrying ─▶ completing ─▶ (over)
//
// A crash anywhere: a value that is not durable was not answered; a prepare_* that is durable is
// completed by start(), and partitions write no second marker for it. Markers that cannot be
// written (a full disk) are tried again until they can; calls get CONCURRENT_TRANSACTIONS
// meanwhile.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/partition/messages.h"
#include "engine/transaction/config.h"
#include "engine/transaction/messages.h"
#include "engine/transaction/metrics.h"
#include "engine/transaction/records.h"
#include "engine/transaction/transaction.h"
#include "engine/transaction/transaction_host.h"
#include "io/base/intrusive_list.h"
#include "io/core_io.h"

namespace weir::transaction {

class TransactionCoordinator {
 public:
  // host and config outlive it.
  TransactionCoordinator(io::CoreIo& io, TransactionHost& host, const TransactionConfig& config);
  ~TransactionCoordinator();
  TransactionCoordinator(const TransactionCoordinator&) = delete;
  TransactionCoordinator& operator=(const TransactionCoordinator&) = delete;

  void replay(model::PartitionIndex partition, std::span<const std::byte> batches);
  void replay_done();
  void start();
  void stop();
  // Nothing is on its way to the log or to partitions.
  bool idle() const { return away_ == 0; }

  const TransactionMetrics& metrics() const { return metrics_; }
  size_t id_count() const { return entries_.size(); }
  // For tests; null: unknown.
  const TransactionValue* find(std::string_view transactional_id) const;

 private:
  enum class Stage : uint8_t { allocating, writing, marking, retrying, completing };

  struct Operation;
  // One transactional id.
  struct Entry : base::ListHook {
    std::string id;
    model::PartitionIndex partition;
    TransactionValue value;  // durable
    bool on_log = false;
    uint64_t number = 0;     // of the transaction that is open or was the last, in this run
    // When the open transaction began, by the clock that does not jump.
    io::Instant open_since;
    // Of the newest connection that ended a transaction, first protocol: what comes later on an
    // older one was meant for an earlier transaction.
    io::Instant end_connected_at{INT64_MIN};
    std::unique_ptr<Operation> operation;
  };
  // One marker to one partition.
  struct Marker {
    Marker(TransactionCoordinator& its_owner, Entry& its_entry)
        : owner(its_owner), entry(its_entry) {
      request.bind_reply<&Marker::on_reply>(*this);
    }
    void on_reply(io::Message&) { owner.on_marker(*this); }
    TransactionCoordinator& owner;
    Entry& entry;
    partition::MarkerRequest request;
    bool done = false;
  };
  // What happens with an entry now.
  struct Operation {
    Operation(TransactionCoordinator& its_owner, Entry& its_entry)
        : owner(its_owner), entry(its_entry) {
      append.bind<&Operation::on_appended>(*this);
      id_wait.bind<&Operation::on_producer_id>(*this);
      retry.bind<&Operation::on_retry>(*this);
    }
    void on_appended(TransactionAppend&) { owner.on_appended(entry); }
    void on_producer_id(ProducerIdWait&) { owner.on_producer_id(entry); }
    void on_retry() { owner.send_markers(entry); }

    TransactionCoordinator& owner;
    Entry& entry;
    Stage stage = Stage::writing;
    TransactionCall* call = nullptr;  // null: answered, or nobody asked
    Decision decision;
    bool is_tombstone = false;
    TransactionAppend append;
    ProducerIdWait id_wait;
    std::deque<Marker> markers;
    size_t markers_away = 0;
    bool marker_failed = false;
    bool outcome_unknown = false;
    io::Timer retry;
    std::deque<TransactionCall*> parked;
  };

  void on_call(io::Message& message);
  void handle(Entry& entry, TransactionCall& call);
  void init(Entry& entry, InitProducerIdCall& call);
  void add(Entry& entry, AddPartitionsCall& call);
  void verify(const Entry& entry, AddPartitionsCall& call);
  void end(Entry& entry, EndTransactionCall& call);
  void describe(DescribeTransactionsCall& call);
  void describe_one(wire::DescribeTransactionsResponse::Transaction& out, base::Arena& arena);
  void list(ListTransactionsCall& call);
  Entry* create(const TransactionCall& call);
  Entry& insert(std::string_view id, model::PartitionIndex partition);
  void reply(TransactionCall& call, model::ErrorCode error);
  void succeed(const Entry& entry, TransactionCall& call, const Decision& decision);

  void begin(Entry& entry, TransactionCall* call, Decision decision);
  void write(Entry& entry);
  void on_producer_id(Entry& entry);
  void on_appended(Entry& entry);
  void apply(Entry& entry);
  void send_markers(Entry& entry);
  void make_markers(Entry& entry);
  void on_marker(Marker& marker);
  void after_markers(Entry& entry);
  void retry_later(Entry& entry);
  void fail(Entry& entry, model::ErrorCode error, bool outcome_unknown);
  void finish(Entry& entry);
  void erase(Entry& entry);

  void replay_record(model::PartitionIndex partition, const log::Record& record);
  void on_sweep();
  void sweep(Entry& entry, int64_t now_ms);

  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  io::CoreIo& io_;
  TransactionHost& host_;
  const TransactionConfig& config_;
  TransactionMetrics metrics_;
  RecordEncoder encoder_;
  base::Arena scratch_;
  std::unordered_map<std::string, std::unique_ptr<Entry>, TextHash, std::equal_to<>> entries_;
  base::IntrusiveList<Entry> order_;  // all, for sweeps
  size_t to_sweep_ = 0;               // of the round that is under way
  io::Timer sweep_timer_;
  uint64_t numbers_ = 0;              // given to transactions in this run
  size_t away_ = 0;                   // appends, id requests and markers
  uint64_t records_skipped_ = 0;
  bool serving_ = false;
};

}  // namespace weir::transaction
