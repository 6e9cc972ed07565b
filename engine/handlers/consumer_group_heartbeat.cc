#include "engine/handlers/consumer_group_heartbeat.h"

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

namespace {

using ConsumerGroupHeartbeatHandler =
    OneGroupHandler<wire::ConsumerGroupHeartbeatRequest, wire::ConsumerGroupHeartbeatResponse,
                    group::ConsumerGroupHeartbeatCall>;

}  // namespace

void start_consumer_group_heartbeat(Request& request) {
  request.run<ConsumerGroupHeartbeatHandler>();
}

}  // namespace weir::handlers
