#pragma once
// UpdateFeatures 0-2: change what the cluster has agreed to use (KIP-584).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct UpdateFeaturesRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::update_features);

  struct FeatureUpdate {
    std::string_view feature{};
    int16_t max_version_level = 0;
    bool allow_downgrade = false;
    int8_t upgrade_type = 1;

    static constexpr void describe(auto& field, auto& m) {
      field("Feature", m.feature);
      field("MaxVersionLevel", m.max_version_level);
      field("AllowDowngrade", m.allow_downgrade, {.versions = until(0)});
      field("UpgradeType", m.upgrade_type, {.versions = since(1), .default_value = 1});
    }
  };

  int32_t timeout_ms = 60000;
  Array<FeatureUpdate> feature_updates{};
  bool validate_only = false;

  static constexpr void describe(auto& field, auto& m) {
    field("timeoutMs", m.timeout_ms, {.default_value = 60000});
    field("FeatureUpdates", m.feature_updates);
    field("ValidateOnly", m.validate_only, {.versions = since(1)});
  }
};

struct UpdateFeaturesResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::update_features);

  struct Result {
    std::string_view feature{};
    int16_t error_code = 0;
    NullableString error_message = "";

    static constexpr void describe(auto& field, auto& m) {
      field("Feature", m.feature);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString error_message = "";
  Array<Result> results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    field("Results", m.results, {.versions = until(1)});
  }
};

}  // namespace weir::wire
