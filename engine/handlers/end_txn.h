#pragma once
// EndTxn: commits or aborts; answered when every marker is on stable storage.

namespace weir::handlers {

class Request;

void start_end_txn(Request& request);

}  // namespace weir::handlers
