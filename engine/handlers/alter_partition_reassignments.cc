#include "engine/handlers/alter_partition_reassignments.h"

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/alter_partition_reassignments.h"

namespace weir::handlers {

using model::ErrorCode;
using wire::AlterPartitionReassignmentsRequest;
using Response = wire::AlterPartitionReassignmentsResponse;

namespace {

struct Outcome {
  ErrorCode error = ErrorCode::none;
  wire::NullableString message{};
};

Outcome check_replicas(const wire::Array<int32_t>& replicas, int32_t node_id) {
  if (replicas.is_null()) {
    return {ErrorCode::no_reassignment_in_progress, "No partition reassignment is in progress."};
  }
  if (replicas.empty()) {
    return {ErrorCode::invalid_replica_assignment,
            "The manual partition assignment includes an empty replica list."};
  }
  for (const int32_t replica : replicas) {
    if (replica == node_id) continue;
    return {ErrorCode::invalid_replica_assignment,
            "The manual partition assignment includes a broker that is not registered."};
  }
  if (replicas.size() > 1) {
    return {ErrorCode::invalid_replica_assignment,
            "The manual partition assignment includes the broker more than once."};
  }
  return {};
}

Outcome outcome_of(const Context& context, std::string_view name,
                   const AlterPartitionReassignmentsRequest::Partition& partition) {
  const catalog::Topic* const topic = context.catalog.find(name);
  if (topic == nullptr) {
    return {ErrorCode::unknown_topic_or_partition, "Unable to find the topic."};
  }
  if (partition.partition_index < 0 || partition.partition_index >= topic->partition_count) {
    return {ErrorCode::unknown_topic_or_partition, "Unable to find the partition."};
  }
  return check_replicas(partition.replicas, context.node.node_id);
}

// False: the arena is full.
bool fill(Request& request, const AlterPartitionReassignmentsRequest& in, Response& out) {
  out.responses = wire::make_array<Response::Topic>(request.arena(), in.topics.size());
  if (out.responses.is_null()) return false;
  for (size_t i = 0; i < in.topics.size(); ++i) {
    const auto& asked = in.topics[i];
    Response::Topic& topic = out.responses[i];
    topic.name = asked.name;
    topic.partitions =
        wire::make_array<Response::Partition>(request.arena(), asked.partitions.size());
    if (topic.partitions.is_null()) return false;
    for (size_t k = 0; k < asked.partitions.size(); ++k) {
      const Outcome outcome = outcome_of(request.context(), asked.name, asked.partitions[k]);
      topic.partitions[k] = {.partition_index = asked.partitions[k].partition_index,
                             .error_code = static_cast<int16_t>(outcome.error),
                             .error_message = outcome.message};
    }
  }
  return true;
}

}  // namespace

void start_alter_partition_reassignments(Request& request) {
  AlterPartitionReassignmentsRequest in;
  if (!request.decode(in)) return;
  Response out;
  out.allow_replication_factor_change = in.allow_replication_factor_change;
  out.error_message = std::nullopt;
  if (!fill(request, in, out)) return request.close_connection("request too large for its memory");
  request.respond(out);
}

}  // namespace weir::handlers
