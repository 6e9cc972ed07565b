#include "engine/handlers/create_topics.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/catalog/catalog_store.h"
#include "engine/catalog/change_rules.h"
#include "engine/handlers/context.h"
#include "engine/model/limits.h"

namespace weir::handlers {

using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;

namespace {

constexpr int32_t kDefaultCount = -1;                              // partitions or replicas
constexpr std::string_view kMetadataTopic = "__cluster_metadata";  // Kafka's own log, not a topic

}  // namespace

void start_create_topics(Request& request) { request.run<CreateTopicsHandler>(); }

void CreateTopicsHandler::start() {
  if (!request_.decode(in_)) return;
  collect();
  int64_t partitions = 0;
  for (Part& part : parts_) {
    if (part.verdict.ok()) part.verdict = check(part);
    if (part.verdict.ok()) partitions += part.partition_count;
  }
  // Kafka counts the whole request.
  for (Part& part : parts_) {
    if (part.verdict.ok() && partitions > model::kPartitionsPerRequestMax) {
      part.verdict =
          refuse(ErrorCode::policy_violation,
                 fmt::format("Excessively large number of partitions per request: {}, {} "
                             "are allowed",
                             partitions, model::kPartitionsPerRequestMax));
    }
  }
  if (!in_.validate_only) send();
  if (changes_.empty()) return respond();
  changes_.send(context().io);
}

// One part for each name; a name that comes twice is refused once.
void CreateTopicsHandler::collect() {
  std::unordered_map<std::string_view, size_t> index;
  for (const Wanted& topic : in_.topics) {
    const auto [at, fresh] = index.emplace(topic.name, parts_.size());
    if (fresh) {
      parts_.push_back({.in = &topic});
    } else {
      parts_[at->second].verdict =
          refuse(ErrorCode::invalid_request, "Duplicate topic name in the request.");
    }
  }
}

Verdict CreateTopicsHandler::check(Part& part) const {
  const Wanted& in = *part.in;
  const catalog::Catalog& catalog = context().catalog;
  if (in_.timeout_ms <= 0) {
    return refuse(ErrorCode::request_timed_out, "The timeout had passed before the request came.");
  }
  if (in.name == kMetadataTopic) {
    return refuse(ErrorCode::invalid_request,
                  fmt::format("Creation of internal topic {} is prohibited.", kMetadataTopic));
  }
  part.partition_count = in.num_partitions;
  if (!in.assignments.empty()) {
    if (Verdict verdict = check_assignments(in, part.partition_count); !verdict.ok())
      return verdict;
  } else {
    if (in.num_partitions == kDefaultCount) {
      part.partition_count = catalog.settings().num_partitions;
    }
    if (in.replication_factor != 1 && in.replication_factor != kDefaultCount) {
      return refuse(ErrorCode::invalid_replication_factor,
                    fmt::format("Replication factor {}: this broker is the only one.",
                                in.replication_factor));
    }
  }
  if (Verdict verdict = collect_overrides(in, part.overrides); !verdict.ok()) return verdict;
  Verdict verdict =
      catalog::check_create_topic(catalog, in.name, part.partition_count, part.overrides);
  if (verdict.ok() && in_.validate_only) part.topic_id = catalog::random_uuid(context().io.random);
  return verdict;
}

// Partitions 0 ... n-1 in any order, each on this node.
Verdict CreateTopicsHandler::check_assignments(const Wanted& in, int32_t& partition_count) const {
  if (in.num_partitions != kDefaultCount || in.replication_factor != kDefaultCount) {
    return refuse(ErrorCode::invalid_request,
                  "With assignments, partitions and replication factor must both be -1.");
  }
  std::vector<bool> seen(in.assignments.size());
  for (const auto& assignment : in.assignments) {
    const auto partition = static_cast<uint32_t>(assignment.partition_index);
    if (partition >= seen.size() || seen[partition]) {
      return refuse(ErrorCode::invalid_replica_assignment,
                    "Partitions must be numbered from 0 without gap or repetition.");
    }
    seen[partition] = true;
    if (assignment.broker_ids.size() != 1 || assignment.broker_ids[0] != context().node.node_id) {
      return refuse(ErrorCode::invalid_replica_assignment,
                    fmt::format("Replicas must be exactly broker {}.", context().node.node_id));
    }
  }
  partition_count = static_cast<int32_t>(seen.size());
  return {};
}

// The same name twice: the last one wins.
Verdict CreateTopicsHandler::collect_overrides(const Wanted& in,
                                               catalog::Overrides& overrides) const {
  for (const auto& config : in.configs) {
    if (!config.value) {
      return refuse(ErrorCode::invalid_config,
                    fmt::format("Null value for config {}", config.name));
    }
    overrides.insert_or_assign(std::string(config.name), std::string(*config.value));
  }
  return {};
}

void CreateTopicsHandler::send() {
  for (Part& part : parts_) {
    if (!part.verdict.ok()) continue;
    catalog::ChangeRequest& change = changes_.add();
    change.kind = catalog::ChangeRequest::Kind::create_topic;
    change.name = part.in->name;
    change.partition_count = part.partition_count;
    change.overrides = part.overrides;
    part.change = &change;
  }
}

void CreateTopicsHandler::respond() {
  Response out;
  out.topics = wire::make_array<Response::Topic>(arena(), parts_.size());
  bool fits = !out.topics.is_null();
  const ConfigEntries entries(context().catalog, context().broker_settings);
  for (size_t i = 0; fits && i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.change != nullptr) {
      part.verdict = {part.change->error, part.change->error_message};
      part.topic_id = part.change->topic_id;
    }
    fits = fill(part, entries, out.topics[i]);
  }
  if (!fits) return request_.close_connection("request too large for its memory");
  request_.respond(out);
}

bool CreateTopicsHandler::fill(const Part& part, const ConfigEntries& entries,
                               Response::Topic& out) {
  out.name = part.in->name;
  out.error_code = static_cast<int16_t>(part.verdict.error);
  out.error_message = std::nullopt;
  if (!part.verdict.ok()) {
    out.error_message = part.verdict.message;
    return true;
  }
  out.topic_id = part.topic_id;
  out.num_partitions = part.partition_count;
  out.replication_factor = 1;
  const auto described = entries.of_topic(part.overrides);
  out.configs = wire::make_array<Response::Config>(arena(), described.size());
  if (out.configs.is_null()) return false;
  for (size_t i = 0; i < described.size(); ++i) {
    out.configs[i] = {.name = described[i].name,
                      .value = described[i].value,
                      .read_only = false,
                      .config_source = static_cast<int8_t>(described[i].source),
                      .is_sensitive = false};
  }
  return true;
}

}  // namespace weir::handlers
