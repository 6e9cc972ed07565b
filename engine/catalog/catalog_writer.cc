#include "engine/catalog/catalog_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "engine/catalog/change_rules.h"
#include "engine/catalog/topic_name.h"
#include "engine/model/limits.h"
#include "engine/model/ports.h"
#include "io/base/assert.h"
#include "io/base/logging.h"

namespace weir::catalog {

using model::ErrorCode;

namespace {

// What changes of one entity's quotas have in common, and with nothing else: no topic is so named.
std::string touch_key(const QuotaEntity& entity) {
  return fmt::format("/{}{}/{}{}", static_cast<int>(entity.user_kind), entity.user,
                     static_cast<int>(entity.client_id_kind), entity.client_id);
}

// Of a group, apart from both.
std::string touch_key(std::string_view group_id) { return fmt::format("//{}", group_id); }

}  // namespace

CatalogWriter::CatalogWriter(io::CoreIo& core, const Catalog& catalog, const CatalogStore& store)
    : core_(core),
      catalog_(catalog),
      file_(store.file),
      tail_(store.tail),
      next_serial_(store.image.next_serial),
      next_producer_id_(store.image.next_producer_id) {
  ASSERT(core.index.value() == 0, "the catalog is changed on core 0 only");
  gather_op_.bind<&CatalogWriter::on_gather>(*this);
  asked_op_.bind<&CatalogWriter::on_given>(*this);
  truncate_op_.bind<&CatalogWriter::on_truncated>(*this);
  sync_op_.bind<&CatalogWriter::on_synced>(*this);
  append_.bind<&CatalogWriter::on_appended>(*this);
  mark_.bind<&CatalogWriter::on_marked>(*this);
  for (uint16_t i = 0; i < core.core_count; ++i) {
    updates_.push_back(std::make_unique<ApplyUpdate>());
    updates_.back()->bind_reply<&CatalogWriter::on_applied>(*this);
  }
  core_.mailboxes.listen<&CatalogWriter::on_change>(model::ports::kCatalogChange, *this);
  core_.mailboxes.listen<&CatalogWriter::on_producer_ids>(model::ports::kProducerIds, *this);
}

CatalogWriter::~CatalogWriter() = default;  // ops and messages assert that none is in flight

// --- arrival
// ---------------------------------------------------------------------------------------

void CatalogWriter::on_change(io::Message& message) {
  enqueue({.change = &static_cast<ChangeRequest&>(message)});
}

void CatalogWriter::on_producer_ids(io::Message& message) {
  enqueue({.block = &static_cast<ProducerIdBlock&>(message)});
}

void CatalogWriter::enqueue(Item item) {
  ASSERT(stage_ != Stage::stopped);
  if (broken_) {
    return refuse_item(item, refuse(ErrorCode::kafka_storage_error,
                                    "The catalog could not be written; it is read-only until the "
                                    "broker is started again."));
  }
  if (queue_.size() >= model::kCatalogQueueMax) {
    return refuse_item(item, refuse(ErrorCode::request_timed_out, "Too many changes are waiting."));
  }
  queue_.push_back(item);
  if (stage_ == Stage::idle) gather();
}

// A batch is taken when the turn's work is done, so that everything that arrived in it takes part.
void CatalogWriter::gather() {
  stage_ = Stage::gathering;
  core_.loop.at_turn_end(gather_op_);
}

void CatalogWriter::on_gather(io::Op&) {
  ASSERT(stage_ == Stage::gathering);
  take_batch();
  if (batch_.empty()) return next();
  append();
}

// --- the batch
// -------------------------------------------------------------------------------------

void CatalogWriter::take_batch() {
  ASSERT(batch_.empty() && changes_.empty());
  touched_.clear();
  batch_partitions_ = 0;
  batch_entities_ = 0;
  batch_groups_ = 0;
  while (!queue_.empty() && batch_.size() < model::kCatalogBatchChangesMax &&
         !conflicts(queue_.front())) {
    const Item item = queue_.front();
    queue_.pop_front();
    const size_t count = changes_.size();
    const Verdict verdict = item.change ? prepare(*item.change) : prepare_block(*item.block);
    if (!verdict.ok()) {
      refuse_item(item, verdict);
    } else if (changes_.size() == count) {
      core_.mailboxes.reply(*item.change);  // everything is so already
    } else {
      batch_.push_back(item);
    }
  }
}

// Whether the request must see the outcome of one in the batch.
bool CatalogWriter::conflicts(const Item& item) const {
  if (item.change == nullptr || touched_.empty()) return false;
  const ChangeRequest& request = *item.change;
  if (request.kind == ChangeRequest::Kind::alter_broker_config) return true;
  if (touched_.contains("")) return true;
  if (request.kind == ChangeRequest::Kind::alter_client_quotas) {
    return touched_.contains(touch_key(request.quota_entity));
  }
  if (request.kind == ChangeRequest::Kind::alter_group_config) {
    return touched_.contains(touch_key(request.name));
  }
  if (!request.id.is_zero()) {
    const Topic* topic = catalog_.find(request.id);
    return topic != nullptr && touched_.contains(collision_key(topic->name));
  }
  return touched_.contains(collision_key(request.name));
}

Verdict CatalogWriter::prepare(ChangeRequest& request) {
  request.error = ErrorCode::none;
  request.error_message.clear();
  switch (request.kind) {
    case ChangeRequest::Kind::create_topic: return prepare_create(request);
    case ChangeRequest::Kind::delete_topic: return prepare_delete(request);
    case ChangeRequest::Kind::create_partitions: return prepare_partitions(request);
    case ChangeRequest::Kind::alter_topic_config: return prepare_topic_config(request);
    case ChangeRequest::Kind::alter_broker_config: return prepare_broker_config(request);
    case ChangeRequest::Kind::alter_client_quotas: return prepare_quotas(request);
    case ChangeRequest::Kind::alter_group_config: return prepare_group_config(request);
  }
  UNREACHABLE("change request kind {}", static_cast<int>(request.kind));
}

Change& CatalogWriter::add_change(ChangeKind kind) {
  Change& change = changes_.emplace_back();
  change.kind = kind;
  return change;
}

Verdict CatalogWriter::prepare_create(ChangeRequest& request) {
  Verdict verdict =
      check_create_topic(catalog_, request.name, request.partition_count, request.overrides);
  if (!verdict.ok()) {
    if (const Topic* topic = catalog_.find(request.name)) {
      request.serial = topic->serial;
      request.topic_id = topic->id;
    }
    return verdict;
  }
  if (catalog_.partition_count() + batch_partitions_ + request.partition_count >
      model::kPartitionsMax) {
    return refuse(ErrorCode::policy_violation, "This broker has no room for so many partitions.");
  }
  base::Uuid id = random_uuid(core_.random);
  while (catalog_.find(id) != nullptr) id = random_uuid(core_.random);
  Change& change = add_change(ChangeKind::create_topic);
  change.serial = next_serial_;
  change.id = id;
  change.name = request.name;
  change.partition_count = request.partition_count;
  change.internal = is_internal_topic(request.name);
  change.overrides = request.overrides;
  ++next_serial_;
  batch_partitions_ += request.partition_count;
  touched_.insert(collision_key(request.name));
  request.serial = change.serial;
  request.topic_id = change.id;
  return {};
}

Verdict CatalogWriter::prepare_delete(ChangeRequest& request) {
  const Topic* topic =
      request.id.is_zero() ? catalog_.find(request.name) : catalog_.find(request.id);
  if (topic == nullptr) {
    return request.id.is_zero()
               ? refuse(ErrorCode::unknown_topic_or_partition,
                        "This server does not host this topic-partition.")
               : refuse(ErrorCode::unknown_topic_id, "This server does not host this topic ID.");
  }
  if (Verdict verdict = check_delete_topic(catalog_, *topic); !verdict.ok()) return verdict;
  add_change(ChangeKind::delete_topic).serial = topic->serial;
  touched_.insert(collision_key(topic->name));
  request.serial = topic->serial;
  request.topic_id = topic->id;
  return {};
}

Verdict CatalogWriter::prepare_partitions(ChangeRequest& request) {
  Verdict verdict = check_create_partitions(catalog_, request.name, request.partition_count);
  if (!verdict.ok()) return verdict;
  const Topic& topic = *catalog_.find(request.name);
  const int32_t added = request.partition_count - topic.partition_count;
  if (catalog_.partition_count() + batch_partitions_ + added > model::kPartitionsMax) {
    return refuse(ErrorCode::policy_violation, "This broker has no room for so many partitions.");
  }
  Change& change = add_change(ChangeKind::set_partition_count);
  change.serial = topic.serial;
  change.partition_count = request.partition_count;
  batch_partitions_ += added;
  touched_.insert(collision_key(request.name));
  request.serial = topic.serial;
  request.topic_id = topic.id;
  return {};
}

Verdict CatalogWriter::prepare_topic_config(ChangeRequest& request) {
  const Topic* topic = catalog_.find(request.name);
  if (topic == nullptr) {
    return refuse(ErrorCode::unknown_topic_or_partition,
                  fmt::format("The topic '{}' does not exist.", request.name));
  }
  Overrides overrides = request.replace ? Overrides{} : topic->overrides;
  Verdict verdict = alter_topic_overrides(catalog_.topic_defaults(), request.ops, overrides);
  if (!verdict.ok()) return verdict;
  request.serial = topic->serial;
  request.topic_id = topic->id;
  if (overrides == topic->overrides) return {};
  Change& change = add_change(ChangeKind::set_topic_config);
  change.serial = topic->serial;
  change.overrides = std::move(overrides);
  touched_.insert(collision_key(request.name));
  return {};
}

Verdict CatalogWriter::prepare_broker_config(ChangeRequest& request) {
  Overrides overrides =
      request.replace ? Overrides{} : catalog_.broker_overrides(request.scope);
  Verdict verdict =
      alter_broker_overrides(catalog_.settings().topic_defaults, request.ops, overrides);
  if (!verdict.ok()) return verdict;
  if (overrides == catalog_.broker_overrides(request.scope)) return {};
  Change& change = add_change(ChangeKind::set_broker_config);
  change.scope = request.scope;
  change.overrides = std::move(overrides);
  touched_.insert("");  // what any other change of the batch is checked against: ends the batch
  return {};
}

Verdict CatalogWriter::prepare_group_config(ChangeRequest& request) {
  const Overrides& current = catalog_.group_overrides(request.name);
  Overrides overrides = request.replace ? Overrides{} : current;
  Verdict verdict =
      alter_group_overrides(catalog_.settings().group_settings, request.ops, overrides);
  if (!verdict.ok()) return verdict;
  if (overrides == current) return {};
  if (current.empty() &&
      catalog_.group_configs().size() + batch_groups_ >= model::kGroupConfigsMax) {
    return refuse(ErrorCode::policy_violation,
                  fmt::format("This broker keeps settings of {} groups at most",
                              model::kGroupConfigsMax));
  }
  if (current.empty()) ++batch_groups_;
  Change& change = add_change(ChangeKind::set_group_config);
  change.name = request.name;
  change.overrides = std::move(overrides);
  touched_.insert(touch_key(request.name));
  return {};
}

Verdict CatalogWriter::prepare_quotas(ChangeRequest& request) {
  const ClientQuotas& all = catalog_.client_quotas();
  const auto found = all.find(request.quota_entity);
  const QuotaValues current = found == all.end() ? QuotaValues{} : found->second;
  QuotaValues values = current;
  Verdict verdict = alter_quotas(request.quota_ops, values);
  if (!verdict.ok()) return verdict;
  if (values == current) return {};
  if (current.empty() && all.size() + batch_entities_ >= model::kClientQuotasMax) {
    return refuse(ErrorCode::policy_violation,
                  fmt::format("This broker keeps quotas of {} entities at most",
                              model::kClientQuotasMax));
  }
  Change& change = add_change(ChangeKind::set_client_quotas);
  change.quota_entity = request.quota_entity;
  change.quotas = std::move(values);
  batch_entities_ += current.empty() ? 1 : 0;
  touched_.insert(touch_key(request.quota_entity));
  return {};
}

Verdict CatalogWriter::prepare_block(ProducerIdBlock& block) {
  block.error = ErrorCode::none;
  block.first = next_producer_id_;
  block.count = model::kProducerIdBlockSize;
  next_producer_id_ += block.count;
  Change& change = add_change(ChangeKind::reserve);
  change.next_serial = next_serial_;
  change.next_producer_id = next_producer_id_;
  return {};
}

// --- durable
// ---------------------------------------------------------------------------------------

void CatalogWriter::append() {
  record_.clear();
  next_tail_ = encode_record(tail_, changes_, record_);
  marked_ = false;
  append_.pieces().assign(1, {record_.data(), record_.size()});
  stage_ = Stage::appending;
  append_.start(core_.disk, file_, tail_.position, io::Durability::on_completion);
}

void CatalogWriter::on_appended(io::WholeWrite& write) {
  ASSERT(stage_ == Stage::appending);
  const int error = write.error();
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    if (reserve_ == nullptr) return cut_back();
    stage_ = Stage::asking;
    return reserve_->give(asked_op_);
  }
  if (error != 0) {
    break_off("write", error);
    return next();
  }
  tail_ = next_tail_;
  apply();
}

void CatalogWriter::on_given(io::Op& op) {
  ASSERT(stage_ == Stage::asking);
  op.result() < 0 ? cut_back() : append();
}

// Part of the record may be in the file: cut it off, and be sure of it before anything follows.
void CatalogWriter::cut_back() {
  base::log_error("catalog", "no space for a change of {} bytes", record_.size());
  stage_ = Stage::truncating;
  core_.disk.truncate(truncate_op_, file_, tail_.position);
}

void CatalogWriter::on_truncated(io::Op& op) {
  ASSERT(stage_ == Stage::truncating);
  if (op.result() < 0) {
    break_off("truncate", -op.result());
    return next();
  }
  stage_ = Stage::syncing;
  core_.disk.sync(sync_op_, file_);
}

void CatalogWriter::on_synced(io::Op& op) {
  ASSERT(stage_ == Stage::syncing);
  if (op.result() < 0) {
    break_off("sync", -op.result());
  } else {
    marked_ = true;  // not worth another write on a full disk
    fail_batch("There is no space on the disk for this change.");
  }
  next();
}

// --- served everywhere
// -----------------------------------------------------------------------------

void CatalogWriter::apply() {
  stage_ = Stage::applying;
  outstanding_ = core_.core_count;
  for (uint16_t i = 0; i < core_.core_count; ++i) {
    updates_[i]->changes = changes_;
    core_.mailboxes.send(io::CoreIndex(i), model::ports::kCatalogApply, *updates_[i]);
  }
}

void CatalogWriter::on_applied(io::Message&) {
  ASSERT(stage_ == Stage::applying && outstanding_ > 0);
  if (--outstanding_ > 0) return;
  answer_batch();
  next();
}

void CatalogWriter::answer_batch() {
  for (const Item& item : batch_) {
    core_.mailboxes.reply(item.change ? static_cast<io::Message&>(*item.change) : *item.block);
  }
  batch_.clear();
  changes_.clear();
}

// --- what comes next
// -------------------------------------------------------------------------------

void CatalogWriter::next() {
  if (!queue_.empty()) return gather();
  if (!marked_ && !broken_) return mark();
  stage_ = Stage::idle;
  if (stop_op_ == nullptr) return;
  stage_ = Stage::stopped;
  core_.disk.close(*std::exchange(stop_op_, nullptr), file_);
}

void CatalogWriter::mark() {
  record_.clear();
  encode_record(tail_, {}, record_);
  mark_.pieces().assign(1, {record_.data(), record_.size()});
  stage_ = Stage::marking;
  mark_.start(core_.disk, file_, tail_.position, io::Durability::on_completion);
}

void CatalogWriter::on_marked(io::WholeWrite& write) {
  ASSERT(stage_ == Stage::marking);
  marked_ = true;
  // A frontier that found no space is missed by nobody: it only helps to tell damage from a torn
  // end.
  const int error = write.error();
  if (error != 0 && error != ENOSPC && error != EDQUOT) break_off("write", error);
  next();
}

void CatalogWriter::stop(io::Op& done) {
  ASSERT(stop_op_ == nullptr && stage_ != Stage::stopped);
  stop_op_ = &done;
  if (stage_ == Stage::idle) next();
}

// --- refusals
// --------------------------------------------------------------------------------------

void CatalogWriter::fail_batch(std::string_view detail) {
  const Verdict verdict = refuse(ErrorCode::kafka_storage_error, std::string(detail));
  for (const Item& item : batch_) refuse_item(item, verdict);
  batch_.clear();
  changes_.clear();
}

void CatalogWriter::break_off(std::string_view action, int error) {
  broken_ = true;
  base::log_error("catalog", "cannot {} catalog.log: {}; the catalog is read-only from now on",
                  action, std::strerror(error));
  fail_batch("The catalog could not be written; whether the change is on disk is unknown.");
  const Verdict verdict =
      refuse(ErrorCode::kafka_storage_error, "The catalog could not be written.");
  for (const Item& item : queue_) refuse_item(item, verdict);
  queue_.clear();
  if (failure_op_ && !failure_op_->armed()) core_.loop.post(*failure_op_, -error);
}

void CatalogWriter::refuse_item(const Item& item, const Verdict& verdict) {
  if (item.block != nullptr) {
    item.block->error = verdict.error;
    item.block->count = 0;
    core_.mailboxes.reply(*item.block);
    return;
  }
  item.change->error = verdict.error;
  item.change->error_message = verdict.message;
  core_.mailboxes.reply(*item.change);
}

}  // namespace weir::catalog
