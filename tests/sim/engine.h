#pragma once
// Engine: the broker under test in a simulated world, with the sizes that a scenario wants.

#include <memory>
#include <string>

#include "io/sim/sim_world.h"
#include "tests/sim/scenario.h"

namespace weir::simtest {

class Engine {
 public:
  Engine(io::sim::SimWorld& world, const Scenario& scenario);
  ~Engine();

  void start();
  bool ready() const;
  bool failed() const;            // it gave up: start failed, or a device error ended it
  std::string failure() const;
  struct DiskAlarms {
    uint64_t stuck = 0;     // calls, now
    uint64_t episodes = 0;  // of this start
  };
  DiskAlarms disk_alarms() const;

 private:
  struct Parts;
  io::sim::SimWorld& world_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::simtest
