#pragma once
// One row per served API: how a request of it is started. Versions are in wire/api_key.h; together
// they feed dispatch and ApiVersions.
//
// To serve another API: handlers/<api>.h declares `void start_<api>(Request&)`, api_table.cc gets a
// row, its `served` in wire/api_key.h becomes true. A compile-time check holds the two together.

#include "engine/wire/api_key.h"

namespace weir::handlers {

class Request;

using StartHandler = void (*)(Request& request);

struct ApiRow {
  wire::ApiKey key;
  StartHandler start;
  // Several of these may be in flight on one connection; all others wait until what came before
  // them is answered, and what comes after them waits for their answer, as in Kafka.
  bool overlaps = false;
};

// nullptr: not served here.
[[nodiscard]] const ApiRow* find_row(wire::ApiKey key);

}  // namespace weir::handlers
