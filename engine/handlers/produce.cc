#include "engine/handlers/produce.h"

#include <algorithm>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithZstd = 7;
constexpr int16_t kFirstVersionWithAbortable = 11;
constexpr int16_t kFirstVersionThatAdds = 12;
constexpr int16_t kFirstVersionWithTopicIds = 13;

int16_t code(ErrorCode error) { return static_cast<int16_t>(error); }

std::optional<log::CompressionTarget> compression_target(const catalog::TopicConfig& config) {
  using enum catalog::CompressionType;
  switch (config.compression_type) {
    case producer: return std::nullopt;
    case uncompressed: return log::CompressionTarget{log::Compression::none};
    case gzip: return log::CompressionTarget{log::Compression::gzip, config.compression_gzip_level};
    case snappy: return log::CompressionTarget{log::Compression::snappy};
    case lz4: return log::CompressionTarget{log::Compression::lz4, config.compression_lz4_level};
    case zstd: return log::CompressionTarget{log::Compression::zstd, config.compression_zstd_level};
  }
  UNREACHABLE("compression type {}", static_cast<int>(config.compression_type));
}

bool is_transactional(std::span<const std::byte> records) {
  return log::starts_with_batch(records) && log::BatchView(records).is_transactional();
}

}  // namespace

void start_produce(Request& request) { request.run<ProduceHandler>(); }

ProduceHandler::~ProduceHandler() {
  for (size_t i = 0; i < part_count_; ++i) {
    if (parts_[i].log_start != nullptr) std::destroy_at(parts_[i].log_start);
    std::destroy_at(&parts_[i]);
  }
}

void ProduceHandler::start() {
  if (!request_.decode(in_)) return;
  if (!resolve()) return request_.close_connection("request too large for its memory");
  outstanding_ = 1;
  charge_quota();
  if (in_.acks < -1 || in_.acks > 1) {
    refuse_all(ErrorCode::invalid_required_acks);
  } else if (lacks_transactional_id()) {
    refuse_all(ErrorCode::transactional_id_authorization_failed);
  } else {
    mark_duplicates();
    for (size_t i = 0; i < part_count_; ++i) append(parts_[i]);
    if (transaction_) ask_coordinator();
  }
  if (--outstanding_ == 0) finish();
}

// Fills the response with every requested partition and makes a Part for each.
bool ProduceHandler::resolve() {
  size_t count = 0;
  for (const auto& topic : in_.topic_data) count += topic.partition_data.size();
  parts_ = static_cast<Part*>(arena().allocate(count * sizeof(Part), alignof(Part)));
  out_.responses = wire::make_array<Response::Topic>(arena(), in_.topic_data.size());
  if ((parts_ == nullptr && count > 0) || out_.responses.is_null()) return false;
  for (size_t i = 0; i < in_.topic_data.size(); ++i) {
    const auto& in = in_.topic_data[i];
    Response::Topic& out = out_.responses[i];
    out.name = in.name;
    out.topic_id = in.topic_id;
    out.partition_responses =
        wire::make_array<Response::Partition>(arena(), in.partition_data.size());
    if (out.partition_responses.is_null()) return false;
    resolve_topic(in, out);
  }
  return true;
}

void ProduceHandler::resolve_topic(const wire::ProduceRequest::Topic& in, Response::Topic& out) {
  const bool by_id = request_.api_version() >= kFirstVersionWithTopicIds;
  const catalog::Catalog& catalog = context().catalog;
  const catalog::Topic* const topic = by_id ? catalog.find(in.topic_id) : catalog.find(in.name);
  for (size_t i = 0; i < in.partition_data.size(); ++i) {
    Part& part = *std::construct_at(&parts_[part_count_++], *this);
    const int32_t index = in.partition_data[i].index;
    part.out = &out.partition_responses[i];
    part.out->index = index;
    part.out->base_offset = -1;
    if (in.partition_data[i].records.has_value()) {
      part.records = request_.writable(*in.partition_data[i].records);
    }
    if (topic == nullptr) {
      refuse(part, by_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition);
    } else if (index < 0 || index >= topic->partition_count) {
      refuse(part, ErrorCode::unknown_topic_or_partition);
    } else if (topic->internal) {
      refuse(part, ErrorCode::invalid_topic_exception, "clients may not write to internal topics");
    } else {
      part.topic = topic;
      part.append.key = {topic->serial, model::PartitionIndex(index)};
    }
  }
}

// Kafka writes only the last of several batches for one partition and answers once. Whoever sends
// such a request cannot tell what happened, so nothing of it is written.
void ProduceHandler::mark_duplicates() {
  if (part_count_ < 2) return;
  Part** const sorted = arena().allocate_array<Part*>(part_count_);
  if (sorted == nullptr) return refuse_all(ErrorCode::invalid_request);
  size_t count = 0;
  for (size_t i = 0; i < part_count_; ++i) {
    if (parts_[i].topic != nullptr) sorted[count++] = &parts_[i];
  }
  std::sort(sorted, sorted + count, [](const Part* a, const Part* b) {
    return a->append.key == b->append.key ? a < b : a->append.key < b->append.key;
  });
  for (size_t i = 1; i < count; ++i) {
    if (sorted[i - 1]->append.key != sorted[i]->append.key) continue;
    sorted[i - 1]->duplicate = sorted[i]->duplicate = sorted[i]->answered = true;
  }
}

bool ProduceHandler::lacks_transactional_id() const {
  if (in_.transactional_id.has_value()) return false;
  return std::any_of(parts_, parts_ + part_count_,
                     [](const Part& part) { return is_transactional(part.records); });
}

void ProduceHandler::charge_quota() {
  if (!charge_.prepare(request_, catalog::QuotaKind::produce)) return;
  charge_.amount = static_cast<double>(request_.frame_size());
  ++outstanding_;
  charge_.send(context());
}

void ProduceHandler::append(Part& part) {
  if (part.topic == nullptr) return;
  if (part.duplicate) {
    return refuse(part, ErrorCode::invalid_request, "the partition is named more than once");
  }
  const catalog::TopicConfig& config = part.topic->config;
  const bool append_time = config.message_timestamp_type == catalog::TimestampType::log_append_time;
  const log::BatchRules rules{
      .batch_size_max = static_cast<size_t>(config.max_message_bytes),
      .segment_size = static_cast<size_t>(config.effective_segment_bytes()),
      .keys_required = config.compacts(),
      .append_time = append_time,
      .zstd_allowed = request_.api_version() >= kFirstVersionWithZstd,
      .now_ms = context().io.clock.wall_ms(),
      .timestamp_before_max_ms = config.message_timestamp_before_max_ms,
      .timestamp_after_max_ms = config.message_timestamp_after_max_ms,
      .compression = compression_target(config)};
  log::BatchVerdict verdict = context().validator.validate(part.records, rules);
  if (verdict.error != ErrorCode::none) return refuse_batch(part, verdict);
  if (verdict.recompressed && !keep(verdict.batch)) {
    return refuse(part, ErrorCode::message_too_large, "the request is too large for its memory");
  }
  Metrics& metrics = context().metrics;
  ++metrics.produce_batches;
  metrics.produce_records += static_cast<uint64_t>(verdict.record_count);
  metrics.produce_bytes += verdict.batch.size();
  if (append_time) part.append_time_ms = rules.now_ms;
  part.append.batch = verdict.batch;
  const auto home = context().catalog.home_core(*part.topic, part.append.key.index);
  if (log::BatchView(verdict.batch).is_transactional()) {
    part.home = home;
    return join_transaction(part, verdict.batch);
  }
  ++outstanding_;
  context().io.mailboxes.send(home, model::ports::kAppend, part.append);
}

// Moves what the validator has made to the request's memory. False: the arena is full.
bool ProduceHandler::keep(std::span<std::byte>& batch) {
  std::byte* const copy = arena().allocate_array<std::byte>(batch.size());
  if (copy == nullptr) return false;
  std::ranges::copy(batch, copy);
  batch = {copy, batch.size()};
  return true;
}

void ProduceHandler::join_transaction(Part& part, std::span<const std::byte> batch) {
  const log::BatchView view(batch);
  const transaction::Claim claim{view.producer_id(), view.producer_epoch()};
  if (!transaction_) {
    transaction_ = std::make_unique<Transaction>(*this);
    transaction_->call.claim = claim;
  }
  transaction::AddPartitionsCall& call = transaction_->call;
  if (claim.producer_id != call.claim.producer_id || claim.epoch != call.claim.epoch) {
    return refuse(part, ErrorCode::invalid_producer_id_mapping);
  }
  // The topic may be gone when the coordinator asks for its name.
  const std::string& name = part.topic->name;
  char* const text = arena().make_array<char>(name.size());
  if (text == nullptr) return refuse(part, ErrorCode::invalid_request);
  std::ranges::copy(name, text);
  transaction_->claims.push_back({.key = part.append.key, .topic = {text, name.size()}});
  transaction_->parts.push_back(&part);
}

void ProduceHandler::ask_coordinator() {
  transaction::AddPartitionsCall& call = transaction_->call;
  call.transactional_id = *in_.transactional_id;
  call.partitions = transaction_->claims;
  call.verify_only = request_.api_version() < kFirstVersionThatAdds;
  call.client_version = call.verify_only ? int16_t{0} : transaction::kEpochBumpVersion;
  ++outstanding_;
  if (send_to_coordinator(context(), call)) return;
  --outstanding_;
  for (Part* part : transaction_->parts) refuse(*part, ErrorCode::invalid_producer_id_mapping);
}

void ProduceHandler::on_coordinator(io::Message&) {
  const transaction::AddPartitionsCall& call = transaction_->call;
  for (size_t i = 0; i < transaction_->parts.size(); ++i) {
    Part& part = *transaction_->parts[i];
    const ErrorCode error =
        call.error != ErrorCode::none ? call.error : transaction_->claims[i].error;
    part.append.outcome_unknown = call.outcome_unknown;
    if (error != ErrorCode::none) {
      refuse(part, in_version(error));
      continue;
    }
    part.append.origin = {.transaction = call.transaction,
                          .unknown_starts_at_0 = !call.verify_only};
    ++outstanding_;
    context().io.mailboxes.send(part.home, model::ports::kAppend, part.append);
  }
  if (--outstanding_ == 0) finish();
}

// What a version of Produce may say of a transaction.
ErrorCode ProduceHandler::in_version(ErrorCode error) const {
  const int16_t version = request_.api_version();
  if (error == ErrorCode::concurrent_transactions && version < kFirstVersionThatAdds) {
    return ErrorCode::not_enough_replicas;  // retriable for everybody
  }
  return abortable_in(fenced_in(error, false), version >= kFirstVersionWithAbortable);
}

void ProduceHandler::refuse(Part& part, ErrorCode error, std::string_view message) {
  part.topic = nullptr;
  part.out->error_code = code(error);
  if (!message.empty()) part.out->error_message = message;
}

void ProduceHandler::refuse_all(ErrorCode error) {
  for (size_t i = 0; i < part_count_; ++i) refuse(parts_[i], error);
}

void ProduceHandler::refuse_batch(Part& part, const log::BatchVerdict& verdict) {
  if (verdict.with_log_start_offset) ask_log_start(part);
  refuse(part, verdict.error, verdict.message);
  auto errors = wire::make_array<Response::RecordError>(arena(), verdict.bad_records.size());
  if (errors.is_null()) return;  // the code alone says enough
  for (size_t i = 0; i < errors.size(); ++i) {
    errors[i] = {.batch_index = verdict.bad_records[i],
                 .batch_index_error_message = verdict.message};
  }
  part.out->record_errors = errors;
}

void ProduceHandler::ask_log_start(Part& part) {
  constexpr int64_t kEarliest = -2;
  auto* const place = static_cast<partition::OffsetsRequest*>(arena().allocate(
      sizeof(partition::OffsetsRequest), alignof(partition::OffsetsRequest)));
  if (place == nullptr) return;
  part.log_start = std::construct_at(place);
  part.log_start->bind_reply<&ProduceHandler::on_reply>(*this);
  part.log_start->key = part.append.key;
  part.log_start->timestamp = kEarliest;
  ++outstanding_;
  const auto home = context().catalog.home_core(*part.topic, part.append.key.index);
  context().io.mailboxes.send(home, model::ports::kListOffsets, *part.log_start);
}

void ProduceHandler::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ == 0) finish();
}

void ProduceHandler::finish() {
  bool any_error = false;
  request_.throttle(charge_.throttle_ms);
  for (size_t i = 0; i < part_count_; ++i) {
    if (parts_[i].append.outcome_unknown) {
      ++context().metrics.produce_outcomes_unknown;
      return request_.close_connection("a storage device failed, the outcome is unknown");
    }
    report(parts_[i]);
    any_error = any_error || parts_[i].out->error_code != 0;
  }
  if (in_.acks != 0) {
    answer_once();
    return request_.respond(out_);
  }
  if (any_error) return request_.close_connection("error in a Produce request with acks=0");
  request_.respond_nothing();
}

void ProduceHandler::report(Part& part) {
  Response::Partition& out = *part.out;
  const partition::AppendRequest& append = part.append;
  if (out.error_code == 0) {
    // The partition says INVALID_TXN_STATE of a batch that comes after its transaction's end.
    const bool late =
        append.error == ErrorCode::invalid_txn_state && append.origin.transaction != 0;
    out.error_code = code(late ? in_version(ErrorCode::transaction_abortable) : append.error);
    out.log_start_offset = append.log_start_offset.value();
    if (append.error == ErrorCode::none) {
      out.base_offset = append.base_offset.value();
      // A duplicate is answered with the time stored back then.
      out.log_append_time_ms =
          append.log_append_time_ms >= 0 ? append.log_append_time_ms : part.append_time_ms;
    }
  } else if (part.log_start != nullptr && part.log_start->error == ErrorCode::none) {
    out.log_start_offset = part.log_start->offset.value();
  }
  if (out.error_code != 0) ++context().metrics.produce_errors;
}

// One entry for each topic and one for each partition in it, as in Kafka: clients that keep answers
// by name would lose all but one. Without memory for it the answer stays as it was asked.
void ProduceHandler::answer_once() {
  size_t next = 0;
  for (Response::Topic& topic : out_.responses) {
    size_t kept = 0;
    for (const Response::Partition& partition : topic.partition_responses) {
      if (!parts_[next++].answered) topic.partition_responses[kept++] = partition;
    }
    topic.partition_responses = {topic.partition_responses.data(), kept};
  }
  if (out_.responses.size() > 1 && !merge_topics()) return;
  const auto end = std::remove_if(
      out_.responses.begin(), out_.responses.end(),
      [](const Response::Topic& topic) { return topic.partition_responses.empty(); });
  out_.responses = {out_.responses.data(), static_cast<size_t>(end - out_.responses.begin())};
}

// Moves partitions to the first entry of their topic. False: the arena is full.
bool ProduceHandler::merge_topics() {
  const size_t count = out_.responses.size();
  Response::Topic** const sorted = arena().allocate_array<Response::Topic*>(count);
  if (sorted == nullptr) return false;
  for (size_t i = 0; i < count; ++i) sorted[i] = &out_.responses[i];
  const auto same = [](const Response::Topic* a, const Response::Topic* b) {
    return a->topic_id == b->topic_id && a->name == b->name;
  };
  std::sort(sorted, sorted + count, [&](const Response::Topic* a, const Response::Topic* b) {
    if (same(a, b)) return a < b;
    return a->topic_id == b->topic_id ? a->name < b->name : a->topic_id < b->topic_id;
  });
  for (size_t first = 0, last = 0; first < count; first = last) {
    size_t size = 0;
    for (; last < count && same(sorted[first], sorted[last]); ++last) {
      size += sorted[last]->partition_responses.size();
    }
    if (size == sorted[first]->partition_responses.size()) continue;
    const auto merged = wire::make_array<Response::Partition>(arena(), size);
    if (merged.is_null()) return false;
    auto* place = merged.begin();
    for (size_t i = first; i < last; ++i) {
      place = std::ranges::copy(sorted[i]->partition_responses, place).out;
      sorted[i]->partition_responses = {};
    }
    sorted[first]->partition_responses = merged;
  }
  return true;
}

}  // namespace weir::handlers
