#pragma once
// DeleteGroups: groups without members and their offsets go, durably.

namespace weir::handlers {

class Request;

void start_delete_groups(Request& request);

}  // namespace weir::handlers
