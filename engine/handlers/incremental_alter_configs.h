#pragma once
// IncrementalAlterConfigs (SCOPE 18.4): settings of topics, and those of brokers that are defaults
// of topics; what is not named stays as it is.

namespace weir::handlers {

class Request;

void start_incremental_alter_configs(Request& request);

}  // namespace weir::handlers
