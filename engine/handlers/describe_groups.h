#pragma once
// DescribeGroups: states, members and assignments of groups.

namespace weir::handlers {

class Request;

void start_describe_groups(Request& request);

}  // namespace weir::handlers
