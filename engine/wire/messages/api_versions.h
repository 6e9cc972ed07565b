#pragma once
// ApiVersions 0-4: what this broker speaks. The response header is always version 0.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ApiVersionsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::api_versions);

  std::string_view client_software_name{};
  std::string_view client_software_version{};

  static constexpr void describe(auto& field, auto& m) {
    field("ClientSoftwareName", m.client_software_name, {.versions = since(3)});
    field("ClientSoftwareVersion", m.client_software_version, {.versions = since(3)});
  }
};

struct ApiVersionsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::api_versions);

  struct ApiVersion {
    int16_t api_key = 0;
    int16_t min_version = 0;
    int16_t max_version = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("ApiKey", m.api_key);
      field("MinVersion", m.min_version);
      field("MaxVersion", m.max_version);
    }
  };

  struct SupportedFeature {
    std::string_view name{};
    int16_t min_version = 0;
    int16_t max_version = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("MinVersion", m.min_version);
      field("MaxVersion", m.max_version);
    }
  };

  struct FinalizedFeature {
    std::string_view name{};
    int16_t max_version_level = 0;
    int16_t min_version_level = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("MaxVersionLevel", m.max_version_level);
      field("MinVersionLevel", m.min_version_level);
    }
  };

  int16_t error_code = 0;
  Array<ApiVersion> api_keys{};
  int32_t throttle_time_ms = 0;
  Array<SupportedFeature> supported_features{};
  int64_t finalized_features_epoch = -1;
  Array<FinalizedFeature> finalized_features{};
  bool zk_migration_ready = false;

  static constexpr void describe(auto& field, auto& m) {
    field("ErrorCode", m.error_code);
    field("ApiKeys", m.api_keys);
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("SupportedFeatures", m.supported_features, {.versions = since(3), .tag = 0});
    field("FinalizedFeaturesEpoch", m.finalized_features_epoch,
          {.versions = since(3), .tag = 1, .default_value = -1});
    field("FinalizedFeatures", m.finalized_features, {.versions = since(3), .tag = 2});
    field("ZkMigrationReady", m.zk_migration_ready, {.versions = since(3), .tag = 3});
  }
};

}  // namespace weir::wire
