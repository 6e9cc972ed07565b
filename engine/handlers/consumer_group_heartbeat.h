#pragma once
// ConsumerGroupHeartbeat: all that members of consumer groups (KIP-848) say and are told.

namespace weir::handlers {

class Request;

void start_consumer_group_heartbeat(Request& request);

}  // namespace weir::handlers
