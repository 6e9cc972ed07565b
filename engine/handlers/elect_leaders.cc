#include "engine/handlers/elect_leaders.h"

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/elect_leaders.h"

namespace weir::handlers {

using model::ErrorCode;
using wire::ElectLeadersRequest;
using Response = wire::ElectLeadersResponse;

namespace {

// Numbers of the protocol: preferred 0, unclean 1.
constexpr int8_t kElectionTypeMax = 1;

bool is_known_type(int8_t type) { return type >= 0 && type <= kElectionTypeMax; }

struct Outcome {
  ErrorCode error;
  std::string_view message;
};

Outcome outcome_of(const ElectLeadersRequest& in, const catalog::Topic* topic, int32_t partition) {
  if (!is_known_type(in.election_type)) {
    return {ErrorCode::invalid_request, "There is no such election type."};
  }
  if (topic == nullptr || partition < 0 || partition >= topic->partition_count) {
    return {ErrorCode::unknown_topic_or_partition,
            "This server does not host this topic-partition."};
  }
  return {ErrorCode::election_not_needed, "Leader election not needed for topic partition."};
}

// False: the arena is full.
bool fill_named(Request& request, const ElectLeadersRequest& in, Response& out) {
  const catalog::Catalog& catalog = request.context().catalog;
  out.replica_election_results =
      wire::make_array<Response::Topic>(request.arena(), in.topic_partitions.size());
  if (out.replica_election_results.is_null()) return false;
  for (size_t i = 0; i < in.topic_partitions.size(); ++i) {
    const auto& asked = in.topic_partitions[i];
    Response::Topic& topic = out.replica_election_results[i];
    topic.topic = asked.topic;
    topic.partition_result =
        wire::make_array<Response::Partition>(request.arena(), asked.partitions.size());
    if (topic.partition_result.is_null()) return false;
    for (size_t k = 0; k < asked.partitions.size(); ++k) {
      const Outcome outcome = outcome_of(in, catalog.find(asked.topic), asked.partitions[k]);
      topic.partition_result[k] = {.partition_id = asked.partitions[k],
                                   .error_code = static_cast<int16_t>(outcome.error),
                                   .error_message = outcome.message};
    }
  }
  return true;
}

// Of all partitions only those are named whose leader changes.
bool fill_all(Request& request, Response& out) {
  const catalog::Catalog& catalog = request.context().catalog;
  out.replica_election_results =
      wire::make_array<Response::Topic>(request.arena(), catalog.topic_count());
  if (out.replica_election_results.is_null()) return false;
  size_t next = 0;
  for (const catalog::Topic& topic : catalog.topics()) {
    out.replica_election_results[next++].topic = topic.name;
  }
  return true;
}

}  // namespace

void start_elect_leaders(Request& request) {
  ElectLeadersRequest in;
  if (!request.decode(in)) return;
  Response out;
  bool fits = true;
  if (!is_known_type(in.election_type)) {
    out.error_code = static_cast<int16_t>(ErrorCode::invalid_request);
  } else if (in.topic_partitions.is_null()) {
    fits = fill_all(request, out);
  }
  if (!in.topic_partitions.is_null()) fits = fill_named(request, in, out);
  if (!fits) return request.close_connection("request too large for its memory");
  request.respond(out);
}

}  // namespace weir::handlers
