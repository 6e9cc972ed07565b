#pragma once
// ElectLeaders (SCOPE 20.3): the only replica leads already.

namespace weir::handlers {

class Request;

void start_elect_leaders(Request& request);

}  // namespace weir::handlers
