#pragma once
// DescribeConfigs 0-4: settings of topics (resource type 2) and brokers (4).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeConfigsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_configs);

  struct Resource {
    int8_t resource_type = 0;
    std::string_view resource_name{};
    Array<std::string_view> configuration_keys{};

    static constexpr void describe(auto& field, auto& m) {
      field("ResourceType", m.resource_type);
      field("ResourceName", m.resource_name);
      field("ConfigurationKeys", m.configuration_keys, {.nullable = kAllVersions});
    }
  };

  Array<Resource> resources{};
  bool include_synonyms = false;
  bool include_documentation = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Resources", m.resources);
    field("IncludeSynonyms", m.include_synonyms, {.versions = since(1)});
    field("IncludeDocumentation", m.include_documentation, {.versions = since(3)});
  }
};

struct DescribeConfigsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_configs);

  struct Synonym {
    std::string_view name{};
    NullableString value = "";
    int8_t source = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Value", m.value, {.nullable = kAllVersions});
      field("Source", m.source);
    }
  };

  struct Config {
    std::string_view name{};
    NullableString value = "";
    bool read_only = false;
    bool is_default = false;
    int8_t config_source = -1;
    bool is_sensitive = false;
    Array<Synonym> synonyms{};
    int8_t config_type = 0;
    NullableString documentation = "";

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Value", m.value, {.nullable = kAllVersions});
      field("ReadOnly", m.read_only);
      field("IsDefault", m.is_default, {.versions = until(0)});
      field("ConfigSource", m.config_source, {.versions = since(1), .default_value = -1});
      field("IsSensitive", m.is_sensitive);
      field("Synonyms", m.synonyms, {.versions = since(1)});
      field("ConfigType", m.config_type, {.versions = since(3)});
      field("Documentation", m.documentation, {.versions = since(3), .nullable = since(3)});
    }
  };

  struct Result {
    int16_t error_code = 0;
    NullableString error_message = "";
    int8_t resource_type = 0;
    std::string_view resource_name{};
    Array<Config> configs{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
      field("ResourceType", m.resource_type);
      field("ResourceName", m.resource_name);
      field("Configs", m.configs);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Result> results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Results", m.results);
  }
};

}  // namespace weir::wire
