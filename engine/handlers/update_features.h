#pragma once
// UpdateFeatures (KIP-584): features of this broker come with its version and are not switched.

namespace weir::handlers {

class Request;

void start_update_features(Request& request);

}  // namespace weir::handlers
