#pragma once
// Changes of settings by a client: what IncrementalAlterConfigs does to a set of overrides (SCOPE
// 18.4).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/topic_config.h"
#include "engine/model/error_code.h"
#include "engine/partition/cleaner_config.h"

namespace weir::catalog {

class Catalog;

// Numbers of the protocol.
enum class ConfigOpKind : int8_t { set = 0, remove = 1, append = 2, subtract = 3 };

// One setting of one resource. Views belong to the request that asks.
struct ConfigOp {
  int8_t kind = 0;  // as received: any number
  std::string_view name;
  std::optional<std::string_view> value;
};

// The outcome of a check, for the answer to the client.
struct Verdict {
  model::ErrorCode error = model::ErrorCode::none;
  std::string message;
  [[nodiscard]] bool ok() const { return error == model::ErrorCode::none; }
};

Verdict refuse(model::ErrorCode error, std::string message);

// Faults of the request itself, whatever the settings are.
Verdict check_config_ops(std::span<const ConfigOp> ops);

// All ops or none: on success `overrides` is the new set, and its values are valid together.
Verdict alter_topic_overrides(const TopicConfig& defaults, std::span<const ConfigOp> ops,
                              Overrides& overrides);
// Broker settings: only defaults of topics and CleanerConfig can change while running; every
// refusal is INVALID_REQUEST.
Verdict alter_broker_overrides(const TopicConfig& static_defaults, std::span<const ConfigOp> ops,
                               Overrides& overrides);

// The overrides of a new topic: checks names, values, relations and sizes; drops removed names.
Verdict check_new_overrides(const TopicConfig& defaults, Overrides& overrides);

// Applies overrides of broker settings (named by their synonyms) to the defaults of topics. Values
// that do not parse are skipped: they were checked when they were set.
void apply_broker_overrides(TopicConfig& defaults, const Overrides& overrides);
// The same for settings of compaction, by their own names.
void apply_broker_overrides(partition::CleanerConfig& config, const Overrides& overrides);

}  // namespace weir::catalog
