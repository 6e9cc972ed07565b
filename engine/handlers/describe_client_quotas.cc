#include "engine/handlers/describe_client_quotas.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/quota_entities.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/describe_client_quotas.h"

namespace weir::handlers {

using catalog::QuotaName;
using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;
using wire::DescribeClientQuotasRequest;
using Response = wire::DescribeClientQuotasResponse;

namespace {

// Numbers of the protocol.
enum class MatchType : int8_t { exact = 0, any_default = 1, specified = 2 };

// What an entity must have of one type; `present` alone: any name, also none.
struct Wanted {
  bool present = false;
  bool exactly = false;
  QuotaName kind = QuotaName::absent;
  std::string_view name{};

  [[nodiscard]] bool matches(QuotaName has_kind, std::string_view has_name) const {
    if (!present) return true;
    if (has_kind == QuotaName::absent) return false;
    return !exactly || (has_kind == kind && has_name == name);
  }
};

struct Filter {
  Wanted user{};
  Wanted client_id{};
  bool ip = false;
  bool strict = false;

  // Strict: nothing beside what is asked for. Nobody has quotas of addresses.
  [[nodiscard]] bool matches(const catalog::QuotaEntity& entity) const {
    if (ip || !user.matches(entity.user_kind, entity.user) ||
        !client_id.matches(entity.client_id_kind, entity.client_id)) {
      return false;
    }
    return !strict || ((entity.user_kind != QuotaName::absent) == user.present &&
                       (entity.client_id_kind != QuotaName::absent) == client_id.present);
  }
};

Verdict invalid(std::string message) {
  return refuse(ErrorCode::invalid_request, std::move(message));
}

// What the match type demands of the name beside it.
Verdict read_match(const DescribeClientQuotasRequest::Component& component, Wanted& wanted) {
  switch (static_cast<MatchType>(component.match_type)) {
    case MatchType::exact:
      if (!component.match) return invalid("An exact match needs a name.");
      wanted = {true, true, QuotaName::named, *component.match};
      return {};
    case MatchType::any_default:
      if (component.match) return invalid("The default has no name.");
      wanted = {true, true, QuotaName::any, {}};
      return {};
    case MatchType::specified:
      if (component.match) return invalid("Any name is asked for, and yet one is given.");
      wanted = {.present = true};
      return {};
  }
  return invalid(fmt::format("Unknown match type {}", component.match_type));
}

Verdict read_filter(const DescribeClientQuotasRequest& in, Filter& filter) {
  filter.strict = in.strict;
  Wanted ip;
  for (const auto& component : in.components) {
    const std::string_view type = component.entity_type;
    if (type.empty()) return invalid("Unexpected empty entity type.");
    Wanted* const wanted = type == kUserEntity       ? &filter.user
                           : type == kClientIdEntity ? &filter.client_id
                           : type == kIpEntity       ? &ip
                                                     : nullptr;
    if (wanted == nullptr) {
      return refuse(ErrorCode::unsupported_version,
                    fmt::format("Unsupported entity type {}", type));
    }
    if (wanted->present) {
      return invalid(fmt::format("Entity type {} is asked for more than once.", type));
    }
    if (Verdict verdict = read_match(component, *wanted); !verdict.ok()) return verdict;
  }
  filter.ip = ip.present;
  if (ip.present && (filter.user.present || filter.client_id.present)) {
    return invalid("An address is not asked for together with a user or a client id.");
  }
  return {};
}

void add_part(std::string_view type, QuotaName kind, const std::string& name,
              Response::Entry& out) {
  if (kind == QuotaName::absent) return;
  Response::Entity& part = *out.entity.end();
  part.entity_type = type;
  part.entity_name = std::nullopt;
  if (kind == QuotaName::named) part.entity_name = name;
  out.entity = {out.entity.data(), out.entity.size() + 1};
}

// False: the arena is full.
bool fill_entry(const catalog::QuotaEntity& entity, const catalog::QuotaValues& values,
                base::Arena& arena, Response::Entry& out) {
  const auto parts = wire::make_array<Response::Entity>(arena, 2);
  out.values = wire::make_array<Response::Value>(arena, values.size());
  if (parts.is_null() || out.values.is_null()) return false;
  out.entity = {parts.data(), 0};
  add_part(kClientIdEntity, entity.client_id_kind, entity.client_id, out);
  add_part(kUserEntity, entity.user_kind, entity.user, out);
  size_t next = 0;
  for (const auto& [key, value] : values) out.values[next++] = {.key = key, .value = value};
  return true;
}

}  // namespace

void start_describe_client_quotas(Request& request) {
  DescribeClientQuotasRequest in;
  if (!request.decode(in)) return;
  Response out;
  Filter filter;
  if (const Verdict verdict = read_filter(in, filter); !verdict.ok()) {
    out.error_code = static_cast<int16_t>(verdict.error);
    out.error_message = verdict.message;
    out.entries = wire::Array<Response::Entry>::null();
    return request.respond(out);
  }
  std::vector<Response::Entry> entries;
  for (const auto& [entity, values] : request.context().catalog.client_quotas()) {
    if (!filter.matches(entity)) continue;
    if (!fill_entry(entity, values, request.arena(), entries.emplace_back())) {
      return request.close_connection("request too large for its memory");
    }
  }
  out.entries = {entries.data(), entries.size()};
  request.respond(out);
}

}  // namespace weir::handlers
