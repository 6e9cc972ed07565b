#pragma once
// DescribeProducers: who writes to partitions, and since when a transaction is open.

namespace weir::handlers {

class Request;

void start_describe_producers(Request& request);

}  // namespace weir::handlers
