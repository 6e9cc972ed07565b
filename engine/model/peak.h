#pragma once
// Peak: a metric of which a broker shows the largest of its cores, where others add up.

#include <algorithm>
#include <cstdint>

namespace weir::model {

struct Peak {
  uint64_t value = 0;

  void raise(uint64_t other) { value = std::max(value, other); }
};

}  // namespace weir::model
