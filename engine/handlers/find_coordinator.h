#pragma once
// FindCoordinator: who coordinates a group or a transactional id: on one node, always this one.

namespace weir::handlers {

class Request;

void start_find_coordinator(Request& request);

}  // namespace weir::handlers
