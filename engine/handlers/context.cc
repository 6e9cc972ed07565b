#include "engine/handlers/context.h"

#include "engine/handlers/request.h"

namespace weir::handlers {

const io::Address& Context::advertised_to(const Request& request) const {
  return node.advertised.host.empty() ? request.peer().local : node.advertised;
}

}  // namespace weir::handlers
