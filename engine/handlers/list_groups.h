#pragma once
// ListGroups: the groups of all cores.

namespace weir::handlers {

class Request;

void start_list_groups(Request& request);

}  // namespace weir::handlers
