#pragma once
// AlterConfigs and IncrementalAlterConfigs (SCOPE 18.4): settings of topics, and those of brokers
// that are defaults of topics.

namespace weir::handlers {

class Request;

// Older tools: sets what is named and resets everything else of the resource.
void start_alter_configs(Request& request);
// What is not named stays as it is.
void start_incremental_alter_configs(Request& request);

}  // namespace weir::handlers
