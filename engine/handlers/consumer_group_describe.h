#pragma once
// ConsumerGroupDescribe: epochs, members and assignments of consumer groups (KIP-848).

namespace weir::handlers {

class Request;

void start_consumer_group_describe(Request& request);

}  // namespace weir::handlers
