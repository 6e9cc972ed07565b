#pragma once
// OffsetDelete (KIP-496): committed offsets of a group go, durably, one by one.

namespace weir::handlers {

class Request;

void start_offset_delete(Request& request);

}  // namespace weir::handlers
