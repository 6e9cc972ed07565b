#pragma once
// Transactor: a transactional producer with a topic and a group of its own, as a copier from one
// topic to another has them: every transaction writes batches to some partitions and commits the
// number of the transaction as the group's offset, then commits or aborts. First protocol (KIP-98).
//
// It knows what it was told and reads back with read_committed, after every take-over and at the
// end:
//   T1  a transaction is seen whole or not at all, in all partitions and in the group's offset
//   T2  one whose commit was acknowledged is seen; one that was aborted, or never ended, is not
//   T3  the last stable offset never falls, and nothing that was seen goes away
//   T4  once a producer has taken over, no transaction is open: the stable offset is the end
//   T5  a marker ends a transaction that has batches in its partition, and does so once

#include <map>
#include <set>
#include <vector>

#include "tests/sim/actor.h"

namespace weir::simtest {

class Transactor : public Actor {
 public:
  Transactor(Context& context, std::string name);
  bool done() const override { return step_ == Step::finished; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override;
  bool wants_connection() const override { return !done(); }

 private:
  enum class Step : uint8_t {
    create_topic,
    take_over,  // InitProducerId: whatever was open is aborted
    read_back,
    read_offset,
    add_partitions,
    produce,
    peek,  // as another reader would, in the middle
    add_offsets,
    commit_offset,
    end,
    finished
  };
  static constexpr uint32_t kInterruptionsMax = 20;
  enum class Fate : uint8_t { aborted, unknown, committed };
  struct Transaction {
    Fate fate = Fate::aborted;
    std::set<std::pair<int32_t, uint64_t>> batches;  // partition and id, acknowledged
  };

  void begin();
  void next_batch();
  void send_end();
  void on_create(Reader& body);
  void on_take_over(Reader& body);
  void on_read(Reader& body);
  void on_offset(Reader& body);
  void on_added(Reader& body);
  void on_produced(Reader& body);
  void on_peek(Reader& body);
  void on_ended(int error);
  void start_reading();
  void take(int32_t partition, const FetchResult& result);
  bool ends_one(int32_t partition, const BatchView& marker);
  bool passes(int error, const char* what);
  void again(Step step);
  TopicPartition where(int32_t partition) const { return {topic_, partition}; }

  const std::string topic_;
  const std::string group_;
  const int32_t partitions_;
  Step step_ = Step::create_topic;
  uint32_t left_;  // transactions still to be made
  ProducerStamp stamp_;
  std::map<int32_t, int32_t> sequences_;     // of this epoch
  std::vector<Transaction> transactions_;    // number n at n - 1
  bool commit_ = false;                      // how the present one is to end
  std::vector<int32_t> chosen_;              // its partitions
  uint32_t batches_left_ = 0;
  int32_t at_partition_ = 0;                 // of the batch under way
  uint64_t next_batch_id_ = 1;
  bool end_begun_ = false;                   // the coordinator is at it

  // Reading back.
  uint32_t interruptions_ = 0;  // connections that were lost meanwhile
  std::map<int32_t, int64_t> positions_;
  std::map<int32_t, int64_t> stable_floor_;
  std::map<int32_t, std::map<int64_t, int64_t>> aborting_;  // partition -> producer -> first offset
  std::set<std::pair<int32_t, int64_t>> begun_;  // partition and producer, no marker yet
  std::set<std::pair<int32_t, uint64_t>> seen_;
  std::set<std::pair<int32_t, uint64_t>> seen_before_;
  std::set<int32_t> at_end_;
};

}  // namespace weir::simtest
