#include "engine/handlers/alter_client_quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/context.h"
#include "engine/handlers/quota_entities.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/alter_client_quotas.h"

namespace weir::handlers {

using catalog::QuotaEntity;
using catalog::QuotaName;
using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;
using wire::AlterClientQuotasRequest;
using Response = wire::AlterClientQuotasResponse;

namespace {

Verdict invalid(std::string message) {
  return refuse(ErrorCode::invalid_request, std::move(message));
}

class AlterClientQuotasHandler final : public Handler {
 public:
  explicit AlterClientQuotasHandler(Request& request) : Handler(request) {
    changes_.bind<&AlterClientQuotasHandler::respond>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    collect();
    for (Entry& entry : entries_) {
      if (entry.verdict.ok()) entry.verdict = check(entry);
      if (!entry.verdict.ok() || in_.validate_only) continue;
      catalog::ChangeRequest& change = changes_.add();
      change.kind = catalog::ChangeRequest::Kind::alter_client_quotas;
      change.quota_entity = entry.entity;
      change.quota_ops = entry.ops;
      entry.change = &change;
    }
    if (changes_.empty()) return respond();
    changes_.send(context().io);
  }

 private:
  // An entity of the request: answered once, however often it was named.
  struct Entry {
    std::vector<Response::Entity> parts{};  // sorted by type, one of each
    QuotaEntity entity{};
    std::vector<catalog::QuotaOp> ops{};
    Verdict verdict{};
    const catalog::ChangeRequest* change = nullptr;
  };
  using Parts = std::map<std::string_view, wire::NullableString>;

  void collect() {
    std::map<Parts, Entry*> known;
    for (const auto& in : in_.entries) {
      Parts parts;
      for (const auto& part : in.entity) parts.insert_or_assign(part.entity_type, part.entity_name);
      if (const auto found = known.find(parts); found != known.end()) {
        found->second->verdict = invalid("The entity is named more than once.");
        continue;
      }
      Entry& entry = entries_.emplace_back();
      for (const auto& [type, name] : parts) entry.parts.push_back({type, name});
      for (const auto& op : in.ops) {
        entry.ops.push_back({.key = std::string(op.key),
                             .value = op.remove ? std::nullopt : std::optional(op.value)});
      }
      known.emplace(std::move(parts), &entry);
    }
  }

  Verdict check(Entry& entry) const {
    if (entry.parts.empty()) return invalid("Invalid empty client quota entity");
    for (const Response::Entity& part : entry.parts) {
      if (part.entity_type == kIpEntity) return invalid("This broker has no quotas of addresses.");
      if (!set_quota_part({part.entity_type, part.entity_name}, entry.entity)) {
        return invalid(fmt::format("Unhandled client quota entity type: {}", part.entity_type));
      }
      if (part.entity_name && part.entity_name->empty()) {
        return invalid(fmt::format("Empty {} not supported", part.entity_type));
      }
    }
    const catalog::ClientQuotas& quotas = context().catalog.client_quotas();
    const auto found = quotas.find(entry.entity);
    catalog::QuotaValues values = found == quotas.end() ? catalog::QuotaValues{} : found->second;
    return catalog::alter_quotas(entry.ops, values);
  }

  void respond() {
    Response out;
    out.entries = wire::make_array<Response::Entry>(arena(), entries_.size());
    if (out.entries.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      if (entry.change != nullptr) {
        entry.verdict = {entry.change->error, entry.change->error_message};
      }
      Response::Entry& answer = out.entries[i];
      answer.entity = {entry.parts.data(), entry.parts.size()};
      answer.error_code = static_cast<int16_t>(entry.verdict.error);
      answer.error_message = std::nullopt;
      if (!entry.verdict.ok()) answer.error_message = entry.verdict.message;
    }
    request_.respond(out);
  }

  AlterClientQuotasRequest in_;
  std::deque<Entry> entries_;
  CatalogChanges changes_;
};

}  // namespace

void start_alter_client_quotas(Request& request) { request.run<AlterClientQuotasHandler>(); }

}  // namespace weir::handlers
