#pragma once
// Knobs: the options of a scenario that can be turned down one by one, by name: clients, sizes,
// kinds of faults. `sim --seed N --with plain=0,batches=3` turns some; shrink.h turns as many as
// the failure allows.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/sim/scenario.h"

namespace weir::simtest {

struct Knob {
  std::string_view name;
  uint64_t least;  // that a scenario makes sense with
  uint64_t (*get)(const Scenario&);
  // Less than it is, never more: a kind of fault is 1 (as drawn) or 0 (off).
  void (*set)(Scenario&, uint64_t value);
};

std::span<const Knob> knobs();

// The same options with other luck: another order of events, other bytes. 0: as drawn.
void reschedule(Scenario& scenario, uint64_t drawn_seed, uint64_t schedule);

// Applies "name=value,name=value"; schedule=N is reschedule(). What is wrong with it, or
// nothing. A value above the drawn one is wrong, too.
std::string turn_down(Scenario& scenario, std::string_view settings);

}  // namespace weir::simtest
