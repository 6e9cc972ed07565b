#include "engine/handlers/update_features.h"

#include <algorithm>

#include "engine/handlers/features.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/update_features.h"

namespace weir::handlers {

namespace {

constexpr int8_t kUpgrade = 1;
constexpr int8_t kUnsafeDowngrade = 3;

using Update = wire::UpdateFeaturesRequest::FeatureUpdate;

// Levels never change while the node runs: an update may only ask for what is.
bool changes_nothing(const Update& update) {
  const auto feature = std::ranges::find(kFeatures, update.feature, &Feature::name);
  return feature != kFeatures.end() && update.max_version_level == feature->level &&
         update.upgrade_type >= kUpgrade && update.upgrade_type <= kUnsafeDowngrade;
}

}  // namespace

void start_update_features(Request& request) {
  wire::UpdateFeaturesRequest in;
  if (!request.decode(in)) return;
  wire::UpdateFeaturesResponse out;
  out.error_message = std::nullopt;
  if (!std::ranges::all_of(in.feature_updates, changes_nothing)) {
    out.error_code = static_cast<int16_t>(model::ErrorCode::invalid_update_version);
    out.error_message =
        "This broker has group.version 1, transaction.version 2 and no other feature or level.";
    return request.respond(out);
  }
  using Result = wire::UpdateFeaturesResponse::Result;
  out.results = wire::make_array<Result>(request.arena(), in.feature_updates.size());
  if (out.results.is_null()) return request.close_connection("request too large for its memory");
  for (size_t i = 0; i < in.feature_updates.size(); ++i) {
    out.results[i].feature = in.feature_updates[i].feature;
    out.results[i].error_message = std::nullopt;
  }
  request.respond(out);
}

}  // namespace weir::handlers
