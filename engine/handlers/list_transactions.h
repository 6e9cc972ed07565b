#pragma once
// ListTransactions: transactional ids of all cores, by state, producer, age and pattern.

namespace weir::handlers {

class Request;

void start_list_transactions(Request& request);

}  // namespace weir::handlers
