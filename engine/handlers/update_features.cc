#include "engine/handlers/update_features.h"

#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/update_features.h"

namespace weir::handlers {

// None is announced in ApiVersions, so there is none to be changed either.
void start_update_features(Request& request) {
  wire::UpdateFeaturesRequest in;
  if (!request.decode(in)) return;
  wire::UpdateFeaturesResponse out;
  out.error_message = std::nullopt;
  if (!in.feature_updates.empty()) {
    out.error_code = static_cast<int16_t>(model::ErrorCode::invalid_update_version);
    out.error_message = "This broker has no such feature: nothing was updated.";
  }
  request.respond(out);
}

}  // namespace weir::handlers
