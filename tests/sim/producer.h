#pragma once
// Producer: sends record batches, plain or idempotent, several requests in flight, and sends again
// what was refused or lost, in order, as real clients do. Plain producers sometimes give up
// instead.

#include <deque>
#include <map>
#include <vector>

#include "tests/sim/actor.h"

namespace weir::simtest {

class Producer : public Actor {
 public:
  Producer(Context& context, std::string name, bool idempotent);

  bool done() const override;
  uint32_t refusals() const { return refusals_; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override;
  bool wants_connection() const override { return !done(); }

 private:
  static constexpr size_t kWindow = 5;  // batches per producer that a broker remembers

  // One partition as this producer sees it.
  struct Lane {
    TopicPartition where;
    std::deque<Batch*> unsettled;  // in order of sequences
    size_t unsent = 0;             // index of the first one that is not under way
    std::deque<Batch*> recent;     // the last acknowledged ones
    int32_t next_sequence = 0;
  };
  struct Part {
    Lane* lane;
    Batch* batch;
    bool repeat;  // of an acknowledged batch
  };

  void find_lanes();
  bool make_batch(Lane& lane);
  bool send_next();
  bool send_repeat();
  void send_parts(const std::vector<Part>& parts);
  void settle(const Part& part, const ProduceResult& result);
  void refuse(const Part& part, int error);
  std::vector<Record> make_records();

  const bool idempotent_;
  ProducerStamp stamp_;
  std::map<TopicPartition, Lane> lanes_;
  std::map<int32_t, std::vector<Part>> requests_;  // by correlation id
  uint32_t left_;                                  // batches still to be made
  uint32_t refusals_ = 0;
  bool asking_id_ = false;
};

}  // namespace weir::simtest
