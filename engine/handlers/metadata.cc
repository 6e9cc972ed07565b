#include "engine/handlers/metadata.h"

#include <algorithm>

#include "engine/catalog/change_rules.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/context.h"

namespace weir::handlers {

using catalog::Topic;
using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionToAskById = 12;
// Topics that one request may create; the client gets the others when it asks again.
constexpr size_t kCreationsPerRequestMax = 1000;

int16_t code(ErrorCode error) { return static_cast<int16_t>(error); }

}  // namespace

void start_metadata(Request& request) { request.run<MetadataHandler>(); }

void MetadataHandler::start() {
  if (!request_.decode(in_)) return;
  node_id_ = context().node.node_id;
  all_topics_ = in_.topics.is_null() || (request_.api_version() == 0 && in_.topics.empty());
  const bool by_id =
      std::ranges::any_of(in_.topics, [](const auto& topic) { return !topic.topic_id.is_zero(); });
  const bool nameless = std::ranges::any_of(in_.topics, [](const auto& topic) {
    return topic.topic_id.is_zero() && !topic.name.has_value();
  });
  if (request_.api_version() < kFirstVersionToAskById && (by_id || nameless)) {
    return refuse_all(ErrorCode::invalid_request);
  }
  // Neither id nor name: Kafka answers UNKNOWN_SERVER_ERROR without brokers.
  if (nameless && !by_id) {
    fill_node();
    return refuse_all(ErrorCode::invalid_request);
  }
  if (by_id) {
    collect_by_id();  // as in Kafka, names beside ids are not looked at
  } else {
    collect_by_name();
  }
  if (changes_.empty()) return respond();
  changes_.send(context().io);
}

void MetadataHandler::collect_by_id() {
  std::unordered_set<base::Uuid> seen;
  for (const auto& topic : in_.topics) {
    if (topic.topic_id.is_zero() || !seen.insert(topic.topic_id).second) continue;
    wanted_.push_back({.name = {}, .id = topic.topic_id});
  }
}

void MetadataHandler::collect_by_name() {
  std::unordered_set<std::string_view> seen;
  for (const auto& topic : in_.topics) {
    if (!seen.insert(*topic.name).second) continue;
    wanted_.push_back({.name = *topic.name, .id = {}});
  }
  const bool create =
      in_.allow_auto_topic_creation && context().catalog.settings().auto_create_topics_enable;
  if (!create) return;
  for (Wanted& wanted : wanted_) want_creation(wanted);
}

void MetadataHandler::want_creation(Wanted& wanted) {
  const catalog::Catalog& catalog = context().catalog;
  if (catalog.find(wanted.name) != nullptr || catalog::topic_name_fault(wanted.name) ||
      changes_.size() >= kCreationsPerRequestMax) {
    return;
  }
  catalog::ChangeRequest& change = changes_.add();
  if (catalog::is_internal_topic(wanted.name)) {
    catalog::fill_internal_topic(catalog.settings(), wanted.name, change);
  } else {
    change.kind = catalog::ChangeRequest::Kind::create_topic;
    change.name = wanted.name;
    change.partition_count = catalog.settings().num_partitions;
  }
  wanted.creation = &change;
}

void MetadataHandler::respond() {
  fill_node();
  if (!fill_topics()) return request_.close_connection("request too large for its memory");
  if (in_.include_cluster_authorized_operations) {
    out_.cluster_authorized_operations = kClusterOperations;
  }
  request_.respond(out_);
}

bool MetadataHandler::fill_topics() {
  const catalog::Catalog& catalog = context().catalog;
  const size_t count = all_topics_ ? catalog.topic_count() : wanted_.size();
  out_.topics = wire::make_array<Response::Topic>(arena(), count);
  if (out_.topics.is_null()) return false;
  size_t next = 0;
  if (all_topics_) {
    for (const Topic& topic : catalog.topics()) fill_topic(topic, out_.topics[next++]);
  } else {
    for (const Wanted& wanted : wanted_) fill_wanted(wanted, out_.topics[next++]);
  }
  return !too_large_;
}

void MetadataHandler::fill_wanted(const Wanted& wanted, Response::Topic& out) {
  const catalog::Catalog& catalog = context().catalog;
  const Topic* topic = wanted.id.is_zero() ? catalog.find(wanted.name) : catalog.find(wanted.id);
  if (topic != nullptr) return fill_topic(*topic, out);
  fill_missing(wanted, out);
  if (in_.include_topic_authorized_operations) out.topic_authorized_operations = kTopicOperations;
}

void MetadataHandler::fill_missing(const Wanted& wanted, Response::Topic& out) {
  if (!wanted.id.is_zero()) {
    out.name = std::nullopt;
    out.topic_id = wanted.id;
    out.error_code = code(ErrorCode::unknown_topic_id);
    return;
  }
  out.name = wanted.name;
  ErrorCode error = ErrorCode::unknown_topic_or_partition;
  if (catalog::topic_name_fault(wanted.name)) {
    error = ErrorCode::invalid_topic_exception;
  } else if (wanted.creation != nullptr && wanted.creation->error != ErrorCode::none &&
             wanted.creation->error != ErrorCode::topic_already_exists &&
             wanted.creation->error != ErrorCode::invalid_topic_exception) {
    // A name that is valid but collides is not created and stays unknown, as in Kafka.
    error = wanted.creation->error;
  }
  out.error_code = code(error);
}

void MetadataHandler::fill_topic(const Topic& topic, Response::Topic& out) {
  out.name = topic.name;
  out.topic_id = topic.id;
  out.is_internal = topic.internal;
  if (in_.include_topic_authorized_operations) out.topic_authorized_operations = kTopicOperations;
  const auto count = static_cast<size_t>(topic.partition_count);
  out.partitions = wire::make_array<Response::Partition>(arena(), count);
  if (out.partitions.is_null()) {
    too_large_ = true;
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    Response::Partition& partition = out.partitions[i];
    partition.partition_index = static_cast<int32_t>(i);
    partition.leader_id = node_id_;
    partition.leader_epoch = context().node.leader_epoch;
    partition.replica_nodes = {&node_id_, 1};
    partition.isr_nodes = {&node_id_, 1};
  }
}

void MetadataHandler::fill_node() {
  const io::Address& address = context().advertised_to(request_);
  broker_.node_id = node_id_;
  broker_.host = address.host;
  broker_.port = address.port;
  out_.brokers = {&broker_, 1};
  out_.cluster_id = context().node.cluster_id;
  out_.controller_id = node_id_;
}

void MetadataHandler::refuse_all(ErrorCode error) {
  out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
  if (out_.topics.is_null()) return request_.close_connection("request too large for its memory");
  for (size_t i = 0; i < in_.topics.size(); ++i) {
    out_.topics[i].error_code = code(error);
    out_.topics[i].name = in_.topics[i].name.value_or("");
    out_.topics[i].topic_id = in_.topics[i].topic_id;
  }
  request_.respond(out_);
}

}  // namespace weir::handlers
