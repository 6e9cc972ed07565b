#pragma once
// CreateTopics 0-7. From 4 on, -1 partitions or replicas mean the broker default; from 5 on the
// response tells the settings of the topic.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct CreateTopicsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::create_topics);

  struct Assignment {
    int32_t partition_index = 0;
    Array<int32_t> broker_ids{};

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("BrokerIds", m.broker_ids);
    }
  };

  struct Config {
    std::string_view name{};
    NullableString value = "";

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Value", m.value, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view name{};
    int32_t num_partitions = 0;
    int16_t replication_factor = 0;
    Array<Assignment> assignments{};
    Array<Config> configs{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("NumPartitions", m.num_partitions);
      field("ReplicationFactor", m.replication_factor);
      field("Assignments", m.assignments);
      field("Configs", m.configs);
    }
  };

  Array<Topic> topics{};
  int32_t timeout_ms = 60000;
  bool validate_only = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics);
    field("timeoutMs", m.timeout_ms, {.default_value = 60000});
    field("validateOnly", m.validate_only, {.versions = since(1)});
  }
};

struct CreateTopicsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::create_topics);

  struct Config {
    std::string_view name{};
    NullableString value = "";
    bool read_only = false;
    int8_t config_source = -1;
    bool is_sensitive = false;

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Value", m.value, {.nullable = kAllVersions});
      field("ReadOnly", m.read_only);
      field("ConfigSource", m.config_source, {.default_value = -1});
      field("IsSensitive", m.is_sensitive);
    }
  };

  struct Topic {
    std::string_view name{};
    Uuid topic_id{};
    int16_t error_code = 0;
    NullableString error_message = "";
    int16_t topic_config_error_code = 0;
    int32_t num_partitions = -1;
    int16_t replication_factor = -1;
    Array<Config> configs{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("TopicId", m.topic_id, {.versions = since(7)});
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.versions = since(1), .nullable = since(1)});
      field("TopicConfigErrorCode", m.topic_config_error_code, {.versions = since(5), .tag = 0});
      field("NumPartitions", m.num_partitions, {.versions = since(5), .default_value = -1});
      field("ReplicationFactor", m.replication_factor, {.versions = since(5), .default_value = -1});
      field("Configs", m.configs, {.versions = since(5), .nullable = since(5)});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(2)});
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
