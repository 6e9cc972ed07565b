#include "engine/handlers/group_handler.h"

#include "engine/catalog/change_rules.h"
#include "engine/catalog/topic_name.h"
#include "engine/group/group_partition.h"
#include "engine/handlers/context.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

const catalog::Topic* GroupHandler::offsets_topic() const {
  return context().catalog.find(catalog::kConsumerOffsetsTopic);
}

void GroupHandler::with_offsets_topic() {
  if (offsets_topic() != nullptr) return proceed();
  catalog::fill_internal_topic(context().catalog.settings(), catalog::kConsumerOffsetsTopic,
                               changes_.add());
  changes_.send(context().io);
}

void GroupHandler::on_topic_created() {
  // Whoever else created it meanwhile: what counts is that this core serves it.
  if (offsets_topic() == nullptr) return refuse(ErrorCode::coordinator_not_available);
  proceed();
}

model::PartitionIndex GroupHandler::partition_of(std::string_view group_id) const {
  return group::offsets_partition_of(group_id, offsets_topic()->partition_count);
}

io::CoreIndex GroupHandler::core_of(std::string_view group_id) const {
  return context().catalog.home_core(*offsets_topic(), partition_of(group_id));
}

model::PartitionKey GroupHandler::offsets_key_of(std::string_view group_id) const {
  return {offsets_topic()->serial, partition_of(group_id)};
}

void GroupHandler::prepare(group::GroupCall& call) {
  call.api_version = request_.api_version();
  call.arena = &arena();
  call.client_id = request_.client_id();
}

void GroupHandler::send(group::GroupCall& call, std::string_view group_id) {
  call.offsets_partition = partition_of(group_id);
  send_to(call, core_of(group_id));
}

void GroupHandler::send_to(group::GroupCall& call, io::CoreIndex core) {
  prepare(call);
  // As Java prints an address without a name.
  const std::string& host = request_.peer().remote.host;
  char* const text = arena().make_array<char>(host.size() + 1);
  if (text == nullptr) return request_.close_connection("request too large for its memory");
  text[0] = '/';
  std::ranges::copy(host, text + 1);
  call.client_host = {text, host.size() + 1};
  context().io.mailboxes.send(core, model::ports::kGroup, call);
}

bool GroupHandler::has_outcome(const group::GroupCall& call) {
  if (!call.outcome_unknown) return true;
  request_.close_connection("the outcome of a write to __consumer_offsets is unknown");
  return false;
}

}  // namespace weir::handlers
