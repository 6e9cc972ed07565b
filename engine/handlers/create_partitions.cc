#include "engine/handlers/create_partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/catalog/catalog.h"
#include "engine/catalog/change_rules.h"
#include "engine/handlers/context.h"

namespace weir::handlers {

using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;

void start_create_partitions(Request& request) { request.run<CreatePartitionsHandler>(); }

void CreatePartitionsHandler::start() {
  if (!request_.decode(in_)) return;
  collect();
  for (Part& part : parts_) {
    if (part.verdict.ok()) part.verdict = check(*part.in);
    if (!part.verdict.ok() || in_.validate_only) continue;
    catalog::ChangeRequest& change = changes_.add();
    change.kind = catalog::ChangeRequest::Kind::create_partitions;
    change.name = part.in->name;
    change.partition_count = part.in->count;
    part.change = &change;
  }
  if (changes_.empty()) return respond();
  changes_.send(context().io);
}

void CreatePartitionsHandler::collect() {
  std::unordered_map<std::string_view, size_t> index;
  for (const Wanted& topic : in_.topics) {
    const auto [at, fresh] = index.emplace(topic.name, parts_.size());
    if (fresh) {
      parts_.push_back({.in = &topic});
    } else {
      parts_[at->second].verdict =
          refuse(ErrorCode::invalid_request, "Duplicate topic in the request.");
    }
  }
}

Verdict CreatePartitionsHandler::check(const Wanted& in) const {
  const catalog::Catalog& catalog = context().catalog;
  if (Verdict verdict = catalog::check_create_partitions(catalog, in.name, in.count);
      !verdict.ok()) {
    return verdict;
  }
  if (in.assignments.is_null()) return {};
  const int32_t added = in.count - catalog.find(in.name)->partition_count;
  if (in.assignments.size() != static_cast<size_t>(added)) {
    return refuse(ErrorCode::invalid_replica_assignment,
                  fmt::format("{} partitions are added, but {} assignments given.", added,
                              in.assignments.size()));
  }
  const int32_t node_id = context().node.node_id;
  const bool all_here = std::ranges::all_of(in.assignments, [node_id](const auto& assignment) {
    return assignment.broker_ids.size() == 1 && assignment.broker_ids[0] == node_id;
  });
  if (all_here) return {};
  return refuse(ErrorCode::invalid_replica_assignment,
                fmt::format("Replicas must be exactly broker {}.", node_id));
}

void CreatePartitionsHandler::respond() {
  Response out;
  out.results = wire::make_array<Response::Topic>(arena(), parts_.size());
  if (out.results.is_null()) return request_.close_connection("request too large for its memory");
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.change != nullptr) part.verdict = {part.change->error, part.change->error_message};
    out.results[i].name = part.in->name;
    out.results[i].error_code = static_cast<int16_t>(part.verdict.error);
    if (!part.verdict.ok()) out.results[i].error_message = part.verdict.message;
  }
  request_.respond(out);
}

}  // namespace weir::handlers
