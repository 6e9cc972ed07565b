#include "engine/catalog/client_quotas.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "io/base/assert.h"

namespace weir::catalog {

using model::ErrorCode;

namespace {

constexpr double kInt64Limit = 9.2e18;

Verdict check_value(std::string_view key, double value) {
  const auto invalid = [](std::string message) {
    return refuse(ErrorCode::invalid_request, std::move(message));
  };
  const bool is_bytes = key == quota_key(QuotaKind::produce) || key == quota_key(QuotaKind::fetch);
  if (!is_bytes && key != quota_key(QuotaKind::request)) {
    return invalid(fmt::format("Invalid configuration key {}", key));
  }
  // Written so that what is no number fails too.
  if (!(value > 0)) return invalid(fmt::format("Quota {} must be greater than 0", key));
  if (value > kInt64Limit) return invalid(fmt::format("Quota {} is too large", key));
  if (is_bytes && std::floor(value) != value) {
    return invalid(fmt::format("{} cannot be a fractional value.", key));
  }
  return {};
}

}  // namespace

std::string_view quota_key(QuotaKind kind) {
  switch (kind) {
    case QuotaKind::produce: return "producer_byte_rate";
    case QuotaKind::fetch: return "consumer_byte_rate";
    case QuotaKind::request: return "request_percentage";
  }
  UNREACHABLE("quota kind {}", static_cast<int>(kind));
}

Verdict alter_quotas(std::span<const QuotaOp> ops, QuotaValues& values) {
  std::set<std::string_view> seen;
  QuotaValues changed = values;
  for (const QuotaOp& op : ops) {
    if (!seen.insert(op.key).second) {
      return refuse(ErrorCode::invalid_request, fmt::format("Quota {} is named twice", op.key));
    }
    if (!op.value) {
      changed.erase(op.key);  // removing what is not there is fine, whatever its name
      continue;
    }
    if (Verdict verdict = check_value(op.key, *op.value); !verdict.ok()) return verdict;
    changed.insert_or_assign(op.key, *op.value);
  }
  values = std::move(changed);
  return {};
}

std::optional<AppliedQuota> find_quota(const ClientQuotas& quotas, QuotaKind kind,
                                       std::string_view user, std::string_view client_id) {
  using enum QuotaName;
  const QuotaEntityView order[] = {
      {named, user, named, client_id}, {named, user, any, {}}, {named, user, absent, {}},
      {any, {}, named, client_id},     {any, {}, any, {}},     {any, {}, absent, {}},
      {absent, {}, named, client_id},  {absent, {}, any, {}},
  };
  for (const QuotaEntityView& entity : order) {
    const auto found = quotas.find(entity);
    if (found == quotas.end()) continue;
    const auto value = found->second.find(quota_key(kind));
    if (value == found->second.end()) continue;
    return AppliedQuota{.limit = value->second,
                        .per_user = entity.user_kind != absent,
                        .per_client_id = entity.client_id_kind != absent};
  }
  return std::nullopt;
}

}  // namespace weir::catalog
