#pragma once
// DeleteTopics 0-6: by name, from 6 on also by id.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DeleteTopicsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::delete_topics);

  struct Topic {
    NullableString name{};
    Uuid topic_id{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.nullable = kAllVersions, .null_default = true});
      field("TopicId", m.topic_id);
    }
  };

  Array<Topic> topics{};
  Array<std::string_view> topic_names{};
  int32_t timeout_ms = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics, {.versions = since(6)});
    field("TopicNames", m.topic_names, {.versions = until(5)});
    field("TimeoutMs", m.timeout_ms);
  }
};

struct DeleteTopicsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::delete_topics);

  struct Topic {
    NullableString name = "";
    Uuid topic_id{};
    int16_t error_code = 0;
    NullableString error_message{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.nullable = since(6)});
      field("TopicId", m.topic_id, {.versions = since(6)});
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message,
            {.versions = since(5), .nullable = since(5), .null_default = true});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> responses{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("Responses", m.responses);
  }
};

}  // namespace weir::wire
