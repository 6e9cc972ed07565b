#pragma once
// TxnOffsetCommit: offsets of a group that count when the transaction commits.

namespace weir::handlers {

class Request;

void start_txn_offset_commit(Request& request);

}  // namespace weir::handlers
