#pragma once
// ListConfigResources (KIP-1142): which topics, brokers, loggers, groups and client metrics
// there are to be configured.

namespace weir::handlers {

class Request;

void start_list_config_resources(Request& request);

}  // namespace weir::handlers
