#pragma once
// The clients of compacted topics: one that writes records of few keys, with tombstones among them,
// to a topic of its own, and one that reads all such topics over and over. What they find is
// checked by keyed_log.h.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/actor.h"
#include "tests/sim/keyed_log.h"

namespace weir::simtest {

class KeyedWriter : public Actor {
 public:
  KeyedWriter(Context& context, std::string name);
  bool done() const override;

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override;
  bool wants_connection() const override { return !done(); }

 private:
  static constexpr size_t kWindow = 5;  // batches per producer that a broker remembers

  struct Sent {
    ByteString bytes;
    int64_t offset = 0;
    size_t count = 0;
  };
  struct Lane {
    int32_t next_sequence = 0;
    std::deque<Sent> pending;  // at most one
    std::deque<Sent> recent;   // acknowledged to the present producer
    bool repeats = false;      // the request under way has one of these
  };

  void create_topic();
  void send_batches();
  void make_batch(int32_t partition, Lane& lane);
  void on_created(Reader& body);
  void on_produced(Reader& body);
  bool any_pending() const;
  TopicPartition where(int32_t partition) const { return {topic_, partition}; }

  const std::string topic_;
  KeyedRules rules_;
  uint32_t keys_;
  uint32_t left_;  // batches still to be made
  bool created_ = false;
  ProducerStamp stamp_;
  std::map<int32_t, Lane> lanes_;
  std::map<int32_t, Sent> under_way_;
  uint64_t next_value_ = 1;
};

class KeyedReader : public Actor {
 public:
  // Once: reads everything, with the other clients standing still. Otherwise over and over.
  KeyedReader(Context& context, std::string name, bool once);
  bool done() const override { return !once_ || finished_; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override {}
  bool wants_connection() const override { return !finished_; }
  bool works_while_paused() const override { return once_; }

 private:
  struct Place {
    int64_t position = -1;  // -1: where the log starts is to be asked
    bool at_end = false;
    int64_t start_at_send = 0;
    int64_t durable_at_send = 0;
  };

  void on_earliest(Reader& body);
  void on_fetched(Reader& body);
  void take(const TopicPartition& where, Place& place, const FetchResult& result);
  ReadMoment moment() const;
  void tell(const TopicPartition& where, const std::string& problem);

  const bool once_;
  bool finished_ = false;
  std::map<TopicPartition, Place> places_;
  int64_t sent_ns_ = 0;
};

}  // namespace weir::simtest
