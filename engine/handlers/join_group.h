#pragma once
// JoinGroup: become a member of a group, or of its next generation; answered when the join phase
// ends.

namespace weir::handlers {

class Request;

void start_join_group(Request& request);

}  // namespace weir::handlers
