#include "engine/handlers/list_partition_reassignments.h"

#include "engine/wire/messages/list_partition_reassignments.h"

namespace weir::handlers {

// kafka-topics --describe asks this before it prints anything.
void start_list_partition_reassignments(Request& request) {
  wire::ListPartitionReassignmentsRequest in;
  if (!request.decode(in)) return;
  wire::ListPartitionReassignmentsResponse out;
  out.error_message = std::nullopt;
  request.respond(out);
}

}  // namespace weir::handlers
