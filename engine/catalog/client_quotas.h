#pragma once
// Quotas of clients (KIP-13, KIP-55, KIP-124, KIP-546): what is set for whom, what may be set, and
// which of it holds for a client. How much of it a client has used is handlers/quota_buckets.h.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/catalog/config_ops.h"

namespace weir::catalog {

// A name in an entity: there is none, it stands for all that have none of their own, or it is one.
enum class QuotaName : uint8_t { absent = 0, any = 1, named = 2 };

// Whose quotas: of a user, of a client id, or of a client id of a user. At least one is not absent.
struct QuotaEntity {
  QuotaName user_kind = QuotaName::absent;
  std::string user{};  // where named
  QuotaName client_id_kind = QuotaName::absent;
  std::string client_id{};

  bool operator==(const QuotaEntity&) const = default;
};

// The same for a lookup; views belong to whoever asks.
struct QuotaEntityView {
  QuotaName user_kind;
  std::string_view user;
  QuotaName client_id_kind;
  std::string_view client_id;
};

struct QuotaEntityLess {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const { return key_of(a) < key_of(b); }

 private:
  static auto key_of(const auto& entity) {
    return std::tuple(entity.user_kind, std::string_view(entity.user), entity.client_id_kind,
                      std::string_view(entity.client_id));
  }
};

// Kafka's name of a quota, and its value: bytes a second, or percent of one core.
using QuotaValues = std::map<std::string, double, std::less<>>;
using ClientQuotas = std::map<QuotaEntity, QuotaValues, QuotaEntityLess>;

enum class QuotaKind : uint8_t { produce, fetch, request };

// "producer_byte_rate", "consumer_byte_rate", "request_percentage".
std::string_view quota_key(QuotaKind kind);

struct QuotaOp {
  std::string key;
  std::optional<double> value;  // none: remove
};

// All ops or none, as alter_topic_overrides(). Every refusal is INVALID_REQUEST.
Verdict alter_quotas(std::span<const QuotaOp> ops, QuotaValues& values);

// The quota that holds for a client, and whom it shares it with.
struct AppliedQuota {
  double limit = 0;
  bool per_user = false;       // clients of other users have a bucket of their own
  bool per_client_id = false;  // clients of another client id
};

// The most specific one wins, as Kafka's ClientQuotaManager has it: user with client id, user with
// any client id, user; then the same of any user; then client id, any client id.
std::optional<AppliedQuota> find_quota(const ClientQuotas& quotas, QuotaKind kind,
                                       std::string_view user, std::string_view client_id);

}  // namespace weir::catalog
