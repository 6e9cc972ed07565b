#pragma once
// AlterConfigs (SCOPE 18.4), which older tools send: sets what is named and resets everything else
// of the resource.

namespace weir::handlers {

class Request;

void start_alter_configs(Request& request);

}  // namespace weir::handlers
