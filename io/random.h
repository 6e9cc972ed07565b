#pragma once
// Random: the fifth door. Identifiers, nonces, salts; never the order of work in production.

#include <cstdint>

namespace weir::io {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;
};

}  // namespace weir::io
