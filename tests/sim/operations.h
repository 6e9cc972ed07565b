#pragma once
// Operations of the bounded-exhaustive mode (exhaustive.h): each is one thing that a client asks
// for, from the request to its answer. Operator is the client: it carries out one operation at a
// time, keeps what it was told, and after a restart asks whether it is still so:
//   I13  a retry of every idempotent batch gets the first offset
//   I15  topics that were created are there, deleted ones are not
//   I9   a transaction is seen whole or not at all, and as it was told; none is open for ever
//   I19  the engine takes a batch
// What the model knows of topics, records and group offsets is the auditor's to check.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/actor.h"

namespace weir::simtest {

enum class Operation : uint8_t {
  append,             // a plain batch of more than one sector
  append_idempotent,
  retry,              // the last idempotent batch once more
  roll,               // a batch that fits into no segment but a new one
  commit_offset,      // of a group
  begin_transaction,  // and a batch in each partition, and a look that must not see them
  commit_transaction,
  abort_transaction,
  delete_records,     // up to the last one
  create_topic,
  delete_topic,       // the one created last
  snapshot,           // whatever goes on behind comes to rest: sealing, snapshots, the journal
  clean_stop,         // and the next start; the explorer's to carry out
};
inline constexpr Operation kLastOperation = Operation::clean_stop;
std::string_view to_string(Operation operation);
std::optional<Operation> operation_of(std::string_view name);

// What the engine told its only client. Survives crashes, as the model does.
struct Told {
  enum class Fate : uint8_t { aborted, unknown, done };  // of a transaction or a topic
  struct Transaction {
    Fate fate = Fate::aborted;   // done: committed
    size_t batches_acked = 0;    // of two
    bool open = true;            // as far as its producer knows
  };
  ProducerStamp producer;
  int32_t next_sequence = 0;
  std::vector<Batch*> idempotent;         // in order
  ProducerStamp transactor;
  std::vector<Transaction> transactions;  // number n at n - 1
  std::map<std::string, Fate> topics;     // done: it is there
  std::string newest_topic;
  int64_t committed = 0;                  // group offset sent last

  uint64_t hash(const Model& model) const;  // of all promises
};

class Operator : public Actor {
 public:
  Operator(Context& context, Told& told, std::string name);

  bool applies(Operation operation) const;
  void begin(Operation operation);  // not clean_stop
  void set_up();                    // topics, producer ids, a group, the first batches
  void verify();                    // after a restart, and after the audit
  bool done() const override { return calls_.empty(); }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override { calls_.clear(); }
  bool wants_connection() const override { return !done(); }
  bool works_while_paused() const override { return true; }

 private:
  // One request. What reads its answer returns the error in it: one that passes has the request
  // sent again, any other is a finding.
  struct Call {
    std::string what;
    Api api;
    int version;
    std::function<ByteString()> body;  // made when it is sent
    std::function<int(Reader&)> read;
    int64_t wait_ns = 0;               // instead of a request, when there is no `read`
  };
  void call(std::string what, Api api, int version, std::function<ByteString()> body,
            std::function<int(Reader&)> read);
  void produce(Batch& batch);
  Batch& make_batch(const std::string& topic, size_t value_size, bool idempotent);
  void create(const std::string& topic, int32_t partitions, bool modelled);
  void remove(const std::string& topic);
  void init_producer(ProducerStamp& stamp, const std::string& transactional_id);
  void commit_offset();
  void begin_transaction();
  void end_transaction(bool commit);
  void delete_records();
  void check_topics();
  void read_transactions(bool settled);  // settled: none is open
  void take(const FetchResult& result, std::map<uint64_t, size_t>& seen);
  void check_transactions(const std::map<uint64_t, size_t>& seen, bool settled);

  Told& told_;
  std::deque<Call> calls_;
  uint32_t retries_ = 0;
};

}  // namespace weir::simtest
