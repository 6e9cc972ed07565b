#pragma once
// ListPartitionReassignments (SCOPE 20.4): one node never moves a partition.

#include "engine/handlers/request.h"

namespace weir::handlers {

void start_list_partition_reassignments(Request& request);

}  // namespace weir::handlers
