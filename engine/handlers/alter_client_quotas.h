#pragma once
// AlterClientQuotas (KIP-546): sets and removes quotas of users and client ids, durably.

namespace weir::handlers {

class Request;

void start_alter_client_quotas(Request& request);

}  // namespace weir::handlers
