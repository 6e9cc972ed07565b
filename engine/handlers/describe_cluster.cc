#include "engine/handlers/describe_cluster.h"

#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/context.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/describe_cluster.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::DescribeClusterResponse;

namespace {

// Numbers of the protocol.
constexpr int8_t kBrokers = 1;
constexpr int8_t kControllers = 2;

}  // namespace

void start_describe_cluster(Request& request) {
  wire::DescribeClusterRequest in;
  if (!request.decode(in)) return;
  Response out;
  out.error_message = std::nullopt;
  if (in.endpoint_type != kBrokers) {
    const bool controllers = in.endpoint_type == kControllers;
    out.error_code = static_cast<int16_t>(controllers ? ErrorCode::mismatched_endpoint_type
                                                      : ErrorCode::unsupported_endpoint_type);
    out.error_message = controllers ? "This is an address of brokers, not of controllers."
                                    : "There is no such endpoint type.";
    return request.respond(out);
  }
  const Context& context = request.context();
  const io::Address& address = context.advertised_to(request);
  Response::Broker broker;
  broker.broker_id = context.node.node_id;
  broker.host = address.host;
  broker.port = address.port;
  out.brokers = {&broker, 1};
  out.cluster_id = context.node.cluster_id;
  out.controller_id = context.node.node_id;
  if (in.include_cluster_authorized_operations) {
    out.cluster_authorized_operations = kClusterOperations;
  }
  request.respond(out);
}

}  // namespace weir::handlers
