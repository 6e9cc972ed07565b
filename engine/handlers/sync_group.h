#pragma once
// SyncGroup: hand in the plan (the leader) and get one's own part of it (everybody).

namespace weir::handlers {

class Request;

void start_sync_group(Request& request);

}  // namespace weir::handlers
