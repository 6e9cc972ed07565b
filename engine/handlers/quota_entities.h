#pragma once
// Whose quotas, as the messages name it and as the catalog keeps it (KIP-546).

#include <string>
#include <string_view>

#include "engine/catalog/client_quotas.h"
#include "engine/wire/types.h"

namespace weir::handlers {

inline constexpr std::string_view kUserEntity = "user";
inline constexpr std::string_view kClientIdEntity = "client-id";
inline constexpr std::string_view kIpEntity = "ip";

struct QuotaPart {
  std::string_view type;
  wire::NullableString name;  // null: all that have no quota of their own
};

// Puts a part of that type into the entity; an earlier one of the same type is replaced, as in
// Kafka. False: there is no such type here.
inline bool set_quota_part(const QuotaPart& part, catalog::QuotaEntity& entity) {
  const auto kind = part.name ? catalog::QuotaName::named : catalog::QuotaName::any;
  const std::string name(part.name.value_or(""));
  if (part.type == kUserEntity) {
    entity.user_kind = kind;
    entity.user = name;
  } else if (part.type == kClientIdEntity) {
    entity.client_id_kind = kind;
    entity.client_id = name;
  } else {
    return false;
  }
  return true;
}

}  // namespace weir::handlers
