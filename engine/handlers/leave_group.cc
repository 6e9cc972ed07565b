#include "engine/handlers/leave_group.h"

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

namespace {

using LeaveGroupHandler =
    OneGroupHandler<wire::LeaveGroupRequest, wire::LeaveGroupResponse, group::LeaveGroupCall>;

}  // namespace

void start_leave_group(Request& request) { request.run<LeaveGroupHandler>(); }

}  // namespace weir::handlers
