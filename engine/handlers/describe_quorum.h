#pragma once
// DescribeQuorum (KIP-595): the metadata log has one voter, this node, and its catalog is that log.

namespace weir::handlers {

class Request;

void start_describe_quorum(Request& request);

}  // namespace weir::handlers
