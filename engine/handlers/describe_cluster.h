#pragma once
// DescribeCluster (SCOPE 20.5): a cluster of one.

#include "engine/handlers/request.h"

namespace weir::handlers {

void start_describe_cluster(Request& request);

}  // namespace weir::handlers
