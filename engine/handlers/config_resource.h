#pragma once
// Resources that have settings, as the configuration APIs name them.

#include <charconv>
#include <cstdint>
#include <string_view>

namespace weir::handlers {

// Numbers of the protocol (ConfigResource.Type).
enum class ConfigResourceType : int8_t {
  topic = 2,
  broker = 4,
  broker_logger = 8,
  client_metrics = 16,
  group = 32,
};

// Whether the name of a broker resource is this node's number.
inline bool names_node(std::string_view name, int32_t node_id) {
  int32_t number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failure == std::errc{} && end == name.data() + name.size() && number == node_id;
}

}  // namespace weir::handlers
