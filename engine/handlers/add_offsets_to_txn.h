#pragma once
// AddOffsetsToTxn: the offsets of a group become part of a transaction.

namespace weir::handlers {

class Request;

void start_add_offsets_to_txn(Request& request);

}  // namespace weir::handlers
