#pragma once
// What a client may do, as bit fields of Kafka's AclOperation. Nobody has to log in yet, so
// everybody may do everything there is for a resource.

#include <cstdint>

namespace weir::handlers {

namespace authorized_operations_detail {
inline constexpr int32_t kRead = 1 << 3;
inline constexpr int32_t kWrite = 1 << 4;
inline constexpr int32_t kCreate = 1 << 5;
inline constexpr int32_t kDelete = 1 << 6;
inline constexpr int32_t kAlter = 1 << 7;
inline constexpr int32_t kDescribe = 1 << 8;
inline constexpr int32_t kClusterAction = 1 << 9;
inline constexpr int32_t kDescribeConfigs = 1 << 10;
inline constexpr int32_t kAlterConfigs = 1 << 11;
inline constexpr int32_t kIdempotentWrite = 1 << 12;
inline constexpr int32_t kOnEverything =
    kCreate | kAlter | kDescribe | kDescribeConfigs | kAlterConfigs;
}  // namespace authorized_operations_detail

inline constexpr int32_t kOperationsNotAsked = INT32_MIN;
inline constexpr int32_t kTopicOperations =
    authorized_operations_detail::kOnEverything | authorized_operations_detail::kRead |
    authorized_operations_detail::kWrite | authorized_operations_detail::kDelete;
inline constexpr int32_t kClusterOperations = authorized_operations_detail::kOnEverything |
                                              authorized_operations_detail::kClusterAction |
                                              authorized_operations_detail::kIdempotentWrite;
inline constexpr int32_t kGroupOperations =
    authorized_operations_detail::kRead | authorized_operations_detail::kDelete |
    authorized_operations_detail::kDescribe | authorized_operations_detail::kDescribeConfigs |
    authorized_operations_detail::kAlterConfigs;

// Measured on Kafka 4.3.1.
static_assert(kTopicOperations == 3576 && kClusterOperations == 8096 && kGroupOperations == 3400);

}  // namespace weir::handlers
