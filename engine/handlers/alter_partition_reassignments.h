#pragma once
// AlterPartitionReassignments (SCOPE 20.4): the only node has every replica already.

namespace weir::handlers {

class Request;

void start_alter_partition_reassignments(Request& request);

}  // namespace weir::handlers
