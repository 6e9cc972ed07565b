#pragma once
// ApiVersions: what is served, from the two API tables. The one API that is answered in any
// version, also in versions this broker does not know.

namespace weir::handlers {

class Request;

void start_api_versions(Request& request);

}  // namespace weir::handlers
