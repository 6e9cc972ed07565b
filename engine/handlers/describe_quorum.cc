#include "engine/handlers/describe_quorum.h"

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/describe_quorum.h"

namespace weir::handlers {

using model::ErrorCode;
using wire::DescribeQuorumRequest;
using Response = wire::DescribeQuorumResponse;

namespace {

constexpr std::string_view kMetadataTopic = "__cluster_metadata";
constexpr std::string_view kListenerName = "PLAINTEXT";

// There is one metadata log with one partition, and nothing else may be asked for beside it.
bool asks_for_the_log(const DescribeQuorumRequest& in) {
  return in.topics.size() == 1 && in.topics[0].topic_name == kMetadataTopic &&
         in.topics[0].partitions.size() == 1 && in.topics[0].partitions[0].partition_index == 0;
}

// False: the arena is full.
bool refuse_all(Request& request, const DescribeQuorumRequest& in, Response& out) {
  out.topics = wire::make_array<Response::Topic>(request.arena(), in.topics.size());
  if (out.topics.is_null()) return false;
  for (size_t i = 0; i < in.topics.size(); ++i) {
    const auto& asked = in.topics[i];
    Response::Topic& topic = out.topics[i];
    topic.topic_name = asked.topic_name;
    topic.partitions =
        wire::make_array<Response::Partition>(request.arena(), asked.partitions.size());
    if (topic.partitions.is_null()) return false;
    for (size_t k = 0; k < asked.partitions.size(); ++k) {
      Response::Partition& partition = topic.partitions[k];
      partition.partition_index = asked.partitions[k].partition_index;
      partition.error_code = static_cast<int16_t>(ErrorCode::unknown_topic_or_partition);
      partition.error_message = "This server does not host this topic-partition.";
    }
  }
  return true;
}

}  // namespace

void start_describe_quorum(Request& request) {
  DescribeQuorumRequest in;
  if (!request.decode(in)) return;
  Response out;
  if (!asks_for_the_log(in)) {
    if (!refuse_all(request, in, out)) {
      return request.close_connection("request too large for its memory");
    }
    return request.respond(out);
  }
  const Context& context = request.context();
  const int64_t end_offset = context.node.catalog_offset + context.catalog.update_count();
  const int64_t now_ms = context.io.clock.wall_ms();
  const auto directory_id = base::Uuid::parse(context.node.cluster_id);
  Response::Replica voter{.replica_id = context.node.node_id,
                          .replica_directory_id = directory_id.value_or(base::Uuid::zero()),
                          .log_end_offset = end_offset,
                          .last_fetch_timestamp = now_ms,
                          .last_caught_up_timestamp = now_ms};
  Response::Partition partition{.leader_id = context.node.node_id,
                                .leader_epoch = context.node.leader_epoch,
                                .high_watermark = end_offset};
  partition.current_voters = {&voter, 1};
  Response::Topic topic{.topic_name = kMetadataTopic};
  topic.partitions = {&partition, 1};
  const io::Address& address = context.advertised_to(request);
  Response::Listener listener{.name = kListenerName, .host = address.host, .port = address.port};
  Response::Node node{.node_id = context.node.node_id};
  node.listeners = {&listener, 1};
  out.topics = {&topic, 1};
  out.nodes = {&node, 1};
  request.respond(out);
}

}  // namespace weir::handlers
