#pragma once
// AddPartitionsToTxn: partitions become part of a transaction, or are looked up in it.

namespace weir::handlers {

class Request;

void start_add_partitions_to_txn(Request& request);

}  // namespace weir::handlers
