#pragma once
// Heartbeat: a member is alive, and learns of rebalances.

namespace weir::handlers {

class Request;

void start_heartbeat(Request& request);

}  // namespace weir::handlers
