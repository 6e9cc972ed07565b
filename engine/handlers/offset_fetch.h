#pragma once
// OffsetFetch: where groups go on reading.

namespace weir::handlers {

class Request;

void start_offset_fetch(Request& request);

}  // namespace weir::handlers
