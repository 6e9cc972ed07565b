#include "engine/handlers/heartbeat.h"

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

namespace {

using HeartbeatHandler =
    OneGroupHandler<wire::HeartbeatRequest, wire::HeartbeatResponse, group::HeartbeatCall>;

}  // namespace

void start_heartbeat(Request& request) { request.run<HeartbeatHandler>(); }

}  // namespace weir::handlers
