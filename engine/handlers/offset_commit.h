#pragma once
// OffsetCommit: what a group has consumed; answered when it is durable.

namespace weir::handlers {

class Request;

void start_offset_commit(Request& request);

}  // namespace weir::handlers
