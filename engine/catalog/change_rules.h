#pragma once
// Which changes of the topics are allowed. Handlers ask before they send a change (and for
// validate_only instead of sending it); core 0 asks again, because only there is the order of
// changes known.

#include <cstdint>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/catalog/config_ops.h"

namespace weir::catalog {

class ChangeRequest;

// `overrides` loses removed names. partition_count is the real one, not -1.
Verdict check_create_topic(const Catalog& catalog, std::string_view name, int32_t partition_count,
                           Overrides& overrides);

// Raises a topic to `partition_count`. An invalid name is an unknown topic, as in Kafka.
Verdict check_create_partitions(const Catalog& catalog, std::string_view name,
                                int32_t partition_count);

Verdict check_delete_topic(const Catalog& catalog, const Topic& topic);

// Makes `request` create an internal topic with its own settings. Whoever uses a topic first sends
// it and takes topic_already_exists for success.
void fill_internal_topic(const Settings& settings, std::string_view name, ChangeRequest& request);

}  // namespace weir::catalog
