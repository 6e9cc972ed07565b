#include "engine/group/member.h"

#include <algorithm>

namespace weir::group {

bool Member::matches(std::span<const wire::JoinGroupRequest::Protocol> others) const {
  return std::ranges::equal(protocols, others, [](const Protocol& mine, const auto& other) {
    return mine.name == other.name && std::ranges::equal(mine.metadata, other.metadata);
  });
}

size_t Member::metadata_size() const {
  size_t size = 0;
  for (const Protocol& protocol : protocols) {
    size += protocol.name.size() + protocol.metadata.size();
  }
  return size;
}

size_t Member::memory_size() const {
  return kMemberCost + id_.size() + (instance_id ? instance_id->size() : 0) + client_id.size() +
         client_host.size() + metadata_size() + assignment.size();
}

}  // namespace weir::group
