#include "engine/handlers/delete_topics.h"

#include <unordered_map>

#include "engine/catalog/catalog.h"
#include "engine/catalog/change_rules.h"
#include "engine/handlers/context.h"

namespace weir::handlers {

using catalog::refuse;
using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithIds = 6;
constexpr int16_t kFirstVersionWithDeletionDisabled = 3;

}  // namespace

void start_delete_topics(Request& request) { request.run<DeleteTopicsHandler>(); }

void DeleteTopicsHandler::start() {
  if (!request_.decode(in_)) return;
  if (request_.api_version() >= kFirstVersionWithIds) {
    for (const auto& topic : in_.topics) collect(topic.name, topic.topic_id);
  } else {
    for (const std::string_view name : in_.topic_names) collect(name, {});
  }
  mark_duplicates();
  for (Part& part : parts_) {
    if (!part.verdict.ok()) continue;
    const catalog::Topic& topic = *context().catalog.find(part.serial);
    catalog::ChangeRequest& change = changes_.add();
    change.kind = catalog::ChangeRequest::Kind::delete_topic;
    change.name = topic.name;
    change.id = topic.id;  // this one and none that takes its name meanwhile
    part.change = &change;
  }
  if (changes_.empty()) return respond();
  changes_.send(context().io);
}

void DeleteTopicsHandler::collect(wire::NullableString name, const base::Uuid& id) {
  Part& part = parts_.emplace_back();
  part.name = name;
  part.id = id;
  if (name.has_value() != id.is_zero()) {
    part.verdict = refuse(ErrorCode::invalid_request, "Exactly one of name and id must be given.");
    return;
  }
  const catalog::Catalog& catalog = context().catalog;
  const catalog::Topic* topic = name ? catalog.find(*name) : catalog.find(id);
  if (topic == nullptr) {
    part.verdict =
        name ? refuse(ErrorCode::unknown_topic_or_partition,
                      "This server does not host this topic-partition.")
             : refuse(ErrorCode::unknown_topic_id, "This server does not host this topic ID.");
    return;
  }
  part.serial = topic->serial;
  part.verdict = catalog::check_delete_topic(catalog, *topic);
  if (part.verdict.error == ErrorCode::topic_deletion_disabled &&
      request_.api_version() < kFirstVersionWithDeletionDisabled) {
    part.verdict.error = ErrorCode::invalid_request;
  }
}

// A topic that is named twice, in whichever way, is refused, and answered once.
void DeleteTopicsHandler::mark_duplicates() {
  std::unordered_map<model::TopicSerial, size_t> places;
  std::vector<Part> kept;
  for (Part& part : parts_) {
    const bool known = part.serial != model::TopicSerial{};
    const auto [at, fresh] =
        known ? places.emplace(part.serial, kept.size()) : std::pair{places.end(), true};
    if (fresh) {
      kept.push_back(std::move(part));
      continue;
    }
    Part& first = kept[at->second];
    first.verdict = refuse(ErrorCode::invalid_request, "Duplicate topic in the request.");
    if (!first.name) first.name = part.name;
    if (first.id.is_zero()) first.id = part.id;
  }
  parts_ = std::move(kept);
}

void DeleteTopicsHandler::respond() {
  Response out;
  out.responses = wire::make_array<Response::Topic>(arena(), parts_.size());
  if (out.responses.is_null()) {
    return request_.close_connection("request too large for its memory");
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    Response::Topic& topic = out.responses[i];
    if (part.change != nullptr) {
      part.verdict = {part.change->error, part.change->error_message};
      if (part.verdict.ok()) {
        part.name = part.change->name;
        part.id = part.change->topic_id;
      }
    }
    topic.name = part.name;
    topic.topic_id = part.id;
    topic.error_code = static_cast<int16_t>(part.verdict.error);
    if (!part.verdict.ok()) topic.error_message = part.verdict.message;
  }
  request_.respond(out);
}

}  // namespace weir::handlers
