#include "engine/handlers/sync_group.h"

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

namespace {

using SyncGroupHandler =
    OneGroupHandler<wire::SyncGroupRequest, wire::SyncGroupResponse, group::SyncGroupCall>;

}  // namespace

void start_sync_group(Request& request) { request.run<SyncGroupHandler>(); }

}  // namespace weir::handlers
