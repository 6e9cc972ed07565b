#pragma once
// LeaveGroup: members go, and need not be waited for.

namespace weir::handlers {

class Request;

void start_leave_group(Request& request);

}  // namespace weir::handlers
