#include "engine/partition/partition_table.h"

#include <algorithm>
#include <utility>

#include "engine/log/file_names.h"
#include "engine/model/ports.h"

namespace weir::partition {

using model::ErrorCode;

namespace {

ErrorCode describe_producers(const ProducerState& state, base::Arena& arena,
                             std::span<const ProducerInfo>& out) {
  auto* const all = arena.make_array<ProducerInfo>(state.size());
  if (all == nullptr) return ErrorCode::unknown_server_error;
  size_t count = 0;
  for (const auto& [id, entry] : state.entries()) {
    if (!entry.is_known()) continue;
    all[count++] = {.producer_id = id,
                    .epoch = entry.epoch.value(),
                    .last_sequence = entry.last_sequence().value(),
                    .last_timestamp = entry.last_timestamp,
                    .coordinator_epoch = entry.coordinator_epoch,
                    .transaction_first_offset = entry.transaction_first_offset.value()};
  }
  std::sort(all, all + count, [](const ProducerInfo& a, const ProducerInfo& b) {
    return a.producer_id < b.producer_id;
  });
  out = {all, count};
  return ErrorCode::none;
}

}  // namespace

template <class Job>
Job& PartitionTable::Jobs<Job>::take(PartitionTable& table, Services& services) {
  if (free.empty()) {
    all.push_back(std::make_unique<Job>(table, services));
    return *all.back();
  }
  Job& job = *free.back();
  free.pop_back();
  return job;
}

PartitionTable::PartitionTable(Services& services, const Config& config,
                               std::string data_directory)
    : services_(services),
      config_(config),
      data_directory_(std::move(data_directory)),
      remover_(services.io, services.topics_directory, services.segment_pool),
      retention_(services, *this, config),
      cleaner_(services, *this, config),
      read_gate_(services, static_cast<size_t>(config.fetch_memory_bytes)) {
  reap_op_.bind<&PartitionTable::on_reap>(*this);
}

// In a simulated crash watches are still out: they are never answered.
PartitionTable::~PartitionTable() {
  for (auto& [key, partition] : partitions_) partition->waiters().abandon();
}

void PartitionTable::listen() {
  io::Mailboxes& mailboxes = services_.io.mailboxes;
  mailboxes.listen<&PartitionTable::on_append>(model::ports::kAppend, *this);
  mailboxes.listen<&PartitionTable::on_read>(model::ports::kRead, *this);
  mailboxes.listen<&PartitionTable::on_release_read>(model::ports::kReleaseRead, *this);
  mailboxes.listen<&PartitionTable::on_watch>(model::ports::kWatch, *this);
  mailboxes.listen<&PartitionTable::on_cancel_watch>(model::ports::kCancelWatch, *this);
  mailboxes.listen<&PartitionTable::on_list_offsets>(model::ports::kListOffsets, *this);
  mailboxes.listen<&PartitionTable::on_epoch_end>(model::ports::kEpochEnd, *this);
  mailboxes.listen<&PartitionTable::on_log_sizes>(model::ports::kLogSizes, *this);
  mailboxes.listen<&PartitionTable::on_delete_records>(model::ports::kDeleteRecords, *this);
  mailboxes.listen<&PartitionTable::on_write_marker>(model::ports::kWriteMarker, *this);
  mailboxes.listen<&PartitionTable::on_describe_producers>(model::ports::kDescribeProducers, *this);
}

Partition* PartitionTable::find(model::PartitionKey key) {
  const auto it = partitions_.find(key);
  return it == partitions_.end() ? nullptr : it->second.get();
}

Partition& PartitionTable::create(model::PartitionKey key, std::string_view topic,
                                  const PartitionSettings& settings) {
  auto partition = std::make_unique<Partition>(
      services_, config_, key, log::partition_directory(data_directory_, topic, key), settings);
  const auto [it, is_new] = partitions_.emplace(key, std::move(partition));
  ASSERT(is_new, "partition {}-{} exists", key.topic.value(), key.index.value());
  return *it->second;
}

void PartitionTable::remove(model::PartitionKey key) {
  const auto it = partitions_.find(key);
  if (it == partitions_.end()) return;
  removed_.push_back(std::move(it->second));
  partitions_.erase(it);
  removed_.back()->remove(*this);
}

void PartitionTable::on_partition_quiet(Partition& partition) {
  const auto it = std::ranges::find_if(
      removed_, [&](const auto& candidate) { return candidate.get() == &partition; });
  ASSERT(it != removed_.end());
  // The caller is a method of the partition: it dies later in the turn.
  quiet_.push_back(std::move(*it));
  removed_.erase(it);
  if (!reap_op_.armed()) services_.io.loop.post(reap_op_);
}

void PartitionTable::on_reap(io::Op&) {
  for (auto& partition : std::exchange(quiet_, {})) {
    const model::PartitionKey key = partition->key();
    std::string directory = partition->log().directory();
    std::vector<io::FileId> open_files;
    std::map<std::string, uint64_t> reusable;
    for (const auto& segment : partition->log().segments()) {
      if (segment->file != io::kNoFile) open_files.push_back(segment->file);
      if (!segment->sealed || segment->damaged) continue;
      reusable[log::segment_name(segment->name, log::kLogSuffix)] = segment->end;
    }
    partition.reset();
    remover_.remove(std::move(directory), log::deleted_directory(data_directory_, key),
                    std::move(open_files), std::move(reusable));
  }
}

void PartitionTable::on_append(io::Message& message) {
  auto& request = static_cast<AppendRequest&>(message);
  if (Partition* partition = find(request.key)) return partition->append(request);
  request.error = ErrorCode::unknown_topic_or_partition;
  services_.io.mailboxes.reply(request);
}

void PartitionTable::on_write_marker(io::Message& message) {
  auto& request = static_cast<MarkerRequest&>(message);
  log::encode_marker(request.marker, request.producer_id, request.producer_epoch,
                     services_.io.clock.wall_ms(), request.bytes);
  request.batch = request.bytes;
  on_append(message);
}

void PartitionTable::on_describe_producers(io::Message& message) {
  auto& request = static_cast<ProducersRequest&>(message);
  const Partition* const partition = find(request.key);
  if (partition) {
    request.error = describe_producers(partition->producers(), *request.arena, request.producers);
  } else {
    request.error = ErrorCode::unknown_topic_or_partition;
  }
  services_.io.mailboxes.reply(request);
}

void PartitionTable::on_read(io::Message& message) {
  reads_.take(*this, services_).start(static_cast<ReadRequest&>(message));
}

void PartitionTable::on_release_read(io::Message& message) {
  auto& request = static_cast<ReadRequest&>(message);
  auto* job = static_cast<ReadJob*>(std::exchange(request.lease, nullptr));
  ASSERT(job != nullptr, "a read is released once");
  job->release();
  reads_.free.push_back(job);
  services_.io.mailboxes.reply(request);
  read_gate_.look();
}

// Whether a fetch of this partition would be answered at once: with an error, or with its limits
// moved.
bool PartitionTable::must_look_again(const WatchItem& item) {
  Partition* partition = find(item.key);
  return !partition || item.fetch_offset < partition->log_start_offset() ||
         item.fetch_offset > partition->high_watermark();
}

void PartitionTable::on_watch(io::Message& message) {
  auto& request = static_cast<WatchRequest&>(message);
  for (const WatchItem& item : request.items) {
    if (must_look_again(item)) return services_.io.mailboxes.reply(request);
  }
  auto* registration = new WatchRegistration(services_.io.mailboxes, request);
  request.registration = registration;
  for (size_t i = 0; i < request.items.size(); ++i) {
    Partition& partition = *find(request.items[i].key);
    WatchEntry& entry = registration->entries()[i];
    partition.waiters().add(entry);
    // What became readable between the read and this watch counts too.
    const model::Offset behind =
        entry.read_committed ? partition.last_stable_offset() : partition.high_watermark();
    if (entry.fetch_offset < behind) {
      registration->count(entry, partition.readable_bytes(entry.fetch_offset, behind));
    }
  }
  if (registration->satisfied()) registration->come_back();
}

void PartitionTable::on_cancel_watch(io::Message& message) {
  auto& cancel = static_cast<CancelWatch&>(message);
  // The watch may have come back already; its registration is gone then.
  if (auto* registration = static_cast<WatchRegistration*>(cancel.watch->registration)) {
    registration->come_back();
  }
  services_.io.mailboxes.reply(cancel);
}

void PartitionTable::on_list_offsets(io::Message& message) {
  auto& request = static_cast<OffsetsRequest&>(message);
  constexpr int64_t kLatest = -1;
  constexpr int64_t kEarliest = -2;
  constexpr int64_t kEarliestLocal = -4;
  Partition* partition = find(request.key);
  const auto reply = [&] { services_.io.mailboxes.reply(request); };
  if (!partition) {
    request.error = ErrorCode::unknown_topic_or_partition;
    return reply();
  }
  const int32_t epoch = partition->leader_epoch();
  // Unlike Fetch, any epoch but -1 is compared (BEHAVIOUR).
  if (request.current_leader_epoch != -1 && request.current_leader_epoch != epoch) {
    request.error = request.current_leader_epoch < epoch ? ErrorCode::fenced_leader_epoch
                                                         : ErrorCode::unknown_leader_epoch;
    return reply();
  }
  if (request.timestamp == kLatest) {
    request.offset = request.read_committed ? partition->last_stable_offset()
                                            : partition->high_watermark();
    request.leader_epoch = epoch;
    return reply();
  }
  if (request.timestamp == kEarliest || request.timestamp == kEarliestLocal) {
    request.offset = partition->log_start_offset();
    request.leader_epoch = partition->log().epoch_at(request.offset);
    return reply();
  }
  offsets_.take(*this, services_).start(request, *partition);
}

void PartitionTable::done(OffsetsJob& job) { offsets_.free.push_back(&job); }

void PartitionTable::on_epoch_end(io::Message& message) {
  auto& request = static_cast<EpochEndRequest&>(message);
  Partition* partition = find(request.key);
  if (!partition) {
    request.error = ErrorCode::unknown_topic_or_partition;
  } else {
    const int32_t epoch = partition->leader_epoch();
    if (request.current_leader_epoch >= 0 && request.current_leader_epoch != epoch) {
      request.error = request.current_leader_epoch < epoch ? ErrorCode::fenced_leader_epoch
                                                           : ErrorCode::unknown_leader_epoch;
    } else if (request.leader_epoch == epoch) {
      // The epoch of this run, whether or not anything was written under it yet.
      request.found_epoch = epoch;
      request.end_offset = partition->high_watermark();
    } else {
      const auto [found, end] = partition->log().epoch_end(request.leader_epoch);
      request.found_epoch = found;
      request.end_offset = std::min(end, partition->high_watermark());
    }
  }
  services_.io.mailboxes.reply(request);
}

void PartitionTable::on_log_sizes(io::Message& message) {
  auto& request = static_cast<LogSizesRequest&>(message);
  for (LogSizeItem& item : request.items) {
    if (Partition* partition = find(item.key)) {
      item.size_bytes = static_cast<int64_t>(partition->log().size_bytes());
    }
  }
  services_.io.mailboxes.reply(request);
}

void PartitionTable::on_delete_records(io::Message& message) {
  auto& request = static_cast<DeleteRecordsRequest&>(message);
  if (Partition* partition = find(request.key)) return partition->delete_records(request);
  request.error = ErrorCode::unknown_topic_or_partition;
  request.low_watermark = model::kNoOffset;
  services_.io.mailboxes.reply(request);
}

void PartitionTable::stop_retention() {
  retention_.stop();
  cleaner_.stop();
  services_.remover.stop();
  services_.segment_pool.stop();
  services_.primer.stop();
}

void PartitionTable::prepare_stop() {
  stop_retention();
  for (auto& [key, partition] : partitions_) partition->prepare_stop();
}

bool PartitionTable::quiet() const {
  return removed_.empty() && remover_.idle() && retention_.idle() && cleaner_.idle() &&
         services_.remover.idle() && services_.segment_pool.idle() &&
         std::ranges::all_of(partitions_, [](const auto& item) { return item.second->quiet(); });
}

}  // namespace weir::partition
