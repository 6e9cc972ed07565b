#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/consumer_group_heartbeat.h"
#include "engine/wire/messages/find_coordinator.h"
#include "engine/wire/messages/heartbeat.h"
#include "engine/wire/messages/init_producer_id.h"
#include "engine/wire/messages/join_group.h"
#include "engine/wire/messages/leave_group.h"
#include "engine/wire/messages/sync_group.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(FindCoordinator);
WEIR_WIRE_INSTANTIATE_API(JoinGroup);
WEIR_WIRE_INSTANTIATE_API(Heartbeat);
WEIR_WIRE_INSTANTIATE_API(LeaveGroup);
WEIR_WIRE_INSTANTIATE_API(SyncGroup);
WEIR_WIRE_INSTANTIATE_API(InitProducerId);
WEIR_WIRE_INSTANTIATE_API(ConsumerGroupHeartbeat);

}  // namespace weir::wire
