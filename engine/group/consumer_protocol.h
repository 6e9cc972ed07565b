#pragma once
// The one look into what members of protocol type "consumer" bring: which topics they subscribe to,
// so that offsets in use do not expire. To everything else the bytes are opaque (C20).
//
//   version int16 | topic count int32 | { length int16 | topic }* | … of no interest here
//
// Source: ConsumerProtocolSubscription.json.

#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace weir::group {

// False when the bytes are not a subscription: then nothing may be concluded from them.
[[nodiscard]] bool add_subscribed_topics(std::span<const std::byte> subscription,
                                         std::set<std::string, std::less<>>& topics);

}  // namespace weir::group
