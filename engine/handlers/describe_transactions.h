#pragma once
// DescribeTransactions: the state of transactional ids.

namespace weir::handlers {

class Request;

void start_describe_transactions(Request& request);

}  // namespace weir::handlers
