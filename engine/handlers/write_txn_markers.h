#pragma once
// WriteTxnMarkers: ends transactions in partitions directly; for tools, at an operator's word.

namespace weir::handlers {

class Request;

void start_write_txn_markers(Request& request);

}  // namespace weir::handlers
