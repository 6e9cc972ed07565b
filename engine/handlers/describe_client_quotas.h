#pragma once
// DescribeClientQuotas (KIP-546): quotas of the users and client ids that pass a filter.

namespace weir::handlers {

class Request;

void start_describe_client_quotas(Request& request);

}  // namespace weir::handlers
