#pragma once
// ReadyObserver: who wants to know when a broker serves, and where. For a program that starts a
// broker and must not poll for it.

#include <vector>

#include "io/network.h"

namespace weir::broker {

class ReadyObserver {
 public:
  virtual ~ReadyObserver() = default;
  // Once, on core 0's thread: every port is open, with the number the kernel gave where 0 was
  // asked for. Must return at once.
  virtual void on_ready(const std::vector<io::Address>& addresses) = 0;
};

}  // namespace weir::broker
