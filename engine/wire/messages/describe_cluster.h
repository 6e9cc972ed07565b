#pragma once
// DescribeCluster 0-2: cluster id, controller and brokers.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeClusterRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_cluster);

  bool include_cluster_authorized_operations = false;
  int8_t endpoint_type = 1;
  bool include_fenced_brokers = false;

  static constexpr void describe(auto& field, auto& m) {
    field("IncludeClusterAuthorizedOperations", m.include_cluster_authorized_operations);
    field("EndpointType", m.endpoint_type, {.versions = since(1), .default_value = 1});
    field("IncludeFencedBrokers", m.include_fenced_brokers, {.versions = since(2)});
  }
};

struct DescribeClusterResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_cluster);

  struct Broker {
    int32_t broker_id = 0;
    std::string_view host{};
    int32_t port = 0;
    NullableString rack{};
    bool is_fenced = false;

    static constexpr void describe(auto& field, auto& m) {
      field("BrokerId", m.broker_id);
      field("Host", m.host);
      field("Port", m.port);
      field("Rack", m.rack, {.nullable = kAllVersions, .null_default = true});
      field("IsFenced", m.is_fenced, {.versions = since(2)});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString error_message{};
  int8_t endpoint_type = 1;
  std::string_view cluster_id{};
  int32_t controller_id = -1;
  Array<Broker> brokers{};
  int32_t cluster_authorized_operations = INT32_MIN;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions, .null_default = true});
    field("EndpointType", m.endpoint_type, {.versions = since(1), .default_value = 1});
    field("ClusterId", m.cluster_id);
    field("ControllerId", m.controller_id, {.default_value = -1});
    field("Brokers", m.brokers);
    field("ClusterAuthorizedOperations", m.cluster_authorized_operations,
          {.default_value = INT32_MIN});
  }
};

}  // namespace weir::wire
