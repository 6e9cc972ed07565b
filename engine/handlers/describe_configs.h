#pragma once
// DescribeConfigs (SCOPE 18.3): settings of topics and of this broker, with source, type and
// synonyms.

#include "engine/handlers/request.h"

namespace weir::handlers {

void start_describe_configs(Request& request);

}  // namespace weir::handlers
