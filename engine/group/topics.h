#pragma once
// Topics: what a consumer group must know of the catalog, on its core. The broker implements it
// over the core's replica.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/base/uuid.h"

namespace weir::group {

struct TopicView {
  std::string_view name;
  base::Uuid id;
  int32_t partition_count = 0;
};

// What holds for one group: its own settings, else the broker's.
struct ConsumerGroupSettings {
  int32_t session_timeout_ms = 0;
  int32_t heartbeat_interval_ms = 0;
  int32_t assignment_interval_ms = 0;
};

// Views are good until the core's loop runs again.
class Topics {
 public:
  virtual ~Topics() = default;

  [[nodiscard]] virtual std::optional<TopicView> find(std::string_view name) const = 0;
  [[nodiscard]] virtual std::optional<TopicView> find(const base::Uuid& id) const = 0;
  [[nodiscard]] virtual std::vector<std::string_view> names() const = 0;
  // Grows whenever topics or their partitions change.
  [[nodiscard]] virtual int64_t version() const = 0;
  [[nodiscard]] virtual ConsumerGroupSettings settings_of(std::string_view group_id) const = 0;
};

}  // namespace weir::group
