#include "engine/group/consumer_protocol.h"

#include "io/base/bytes.h"

namespace weir::group {

bool add_subscribed_topics(std::span<const std::byte> subscription,
                           std::set<std::string, std::less<>>& topics) {
  base::ByteReader reader(subscription);
  const auto version = reader.read_be<int16_t>();
  const auto count = reader.read_be<int32_t>();
  if (!reader.ok() || version < 0 || count < 0) return false;
  for (int32_t i = 0; i < count; ++i) {
    const auto length = reader.read_be<int16_t>();
    if (!reader.ok() || length < 0) return false;
    const auto topic = reader.read_bytes(static_cast<size_t>(length));
    if (!reader.ok()) return false;
    topics.emplace(base::as_text(topic));
  }
  return true;
}

}  // namespace weir::group
