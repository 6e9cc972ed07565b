#pragma once
// Watcher: reads one partition to its end over and over while operations go on, so that what can
// be read before it is durable is read. The model learns what it saw (P5: read implies durable).

#include "tests/sim/actor.h"

namespace weir::simtest {

class Watcher : public Actor {
 public:
  Watcher(Context& context, TopicPartition where, std::string name)
      : Actor(context, std::move(name)), where_(std::move(where)) {}

  // An operation begins: looks often for a while.
  void look_closely();
  bool done() const override { return true; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override {}

 private:
  const TopicPartition where_;
  int64_t position_ = 0;
  Floors floors_;
  uint32_t close_looks_ = 0;  // still to come
};

}  // namespace weir::simtest
