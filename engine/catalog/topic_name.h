#pragma once
// Names of topics: what is a valid one, which ones collide, which ones are the engine's own (SCOPE
// 13).

#include <optional>
#include <string>
#include <string_view>

namespace weir::catalog {

inline constexpr std::string_view kConsumerOffsetsTopic = "__consumer_offsets";
inline constexpr std::string_view kTransactionStateTopic = "__transaction_state";

// 1 to 249 characters of [a-zA-Z0-9._-], not "." or "..". Else the reason, for the client.
std::optional<std::string> topic_name_fault(std::string_view name);

// Names with equal keys differ at most in `.` against `_`: in metrics of many tools they are the
// same.
std::string collision_key(std::string_view name);

// Topics that clients can read but not write, delete or change the partitions of.
bool is_internal_topic(std::string_view name);

}  // namespace weir::catalog
