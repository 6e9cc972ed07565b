#pragma once
// FakePartitions: the home-core side of produce and fetch for tests: logs in memory, answers at
// once unless told to hold them back, and counts what it has lent out.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/log/record_batch.h"
#include "engine/model/ports.h"
#include "engine/partition/messages.h"
#include "io/core_io.h"

namespace weir::handlers {

class FakePartitions {
 public:
  struct Log {
    std::vector<std::vector<std::byte>> batches;
    model::Offset next{0};
    model::Offset start{0};
    bool deleted = false;
  };

  explicit FakePartitions(io::CoreIo& io) : io_(io) {
    namespace ports = model::ports;
    io.mailboxes.listen<&FakePartitions::on_append>(ports::kAppend, *this);
    io.mailboxes.listen<&FakePartitions::on_read>(ports::kRead, *this);
    io.mailboxes.listen<&FakePartitions::on_release>(ports::kReleaseRead, *this);
    io.mailboxes.listen<&FakePartitions::on_watch>(ports::kWatch, *this);
    io.mailboxes.listen<&FakePartitions::on_cancel>(ports::kCancelWatch, *this);
    io.mailboxes.listen<&FakePartitions::on_offsets>(ports::kListOffsets, *this);
    io.mailboxes.listen<&FakePartitions::on_epoch_end>(ports::kEpochEnd, *this);
    io.mailboxes.listen<&FakePartitions::on_log_sizes>(ports::kLogSizes, *this);
    io.mailboxes.listen<&FakePartitions::on_delete_records>(ports::kDeleteRecords, *this);
  }

  Log& log(uint32_t topic, int32_t partition) {
    return logs_[{model::TopicSerial(topic), model::PartitionIndex(partition)}];
  }
  void append(Log& log, std::vector<std::byte> batch) {
    log::set_base_offset(batch, log.next);
    log.next = log::BatchView(batch).next_offset();
    log.batches.push_back(std::move(batch));
    check_watches();
  }
  void check_watches() {
    std::vector<partition::WatchRequest*> due;
    std::erase_if(watches_, [&](partition::WatchRequest* watch) {
      if (!is_due(*watch)) return false;
      due.push_back(watch);
      return true;
    });
    for (auto* const watch : due) io_.mailboxes.reply(*watch);
  }
  // Answers `index`-th of the appends that were held back.
  void let_go(size_t index) {
    partition::AppendRequest* const request = held_.at(index);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    finish(*request);
  }

  bool hold = false;                // appends wait for let_go()
  bool outcome_unknown = false;
  model::ErrorCode append_error = model::ErrorCode::none;
  model::ErrorCode read_error = model::ErrorCode::none;
  size_t leases = 0;
  size_t reads = 0;
  std::vector<uint64_t> watch_sizes;  // size_min of every watch that came
  size_t held_count() const { return held_.size(); }
  size_t watch_count() const { return watches_.size(); }
  // Keys of the appends in the order they came.
  std::vector<model::PartitionKey> order;

 private:
  Log* find(const model::PartitionKey& key) {
    Log& log = logs_[key];
    return log.deleted ? nullptr : &log;
  }

  void on_append(io::Message& message) {
    auto& request = static_cast<partition::AppendRequest&>(message);
    order.push_back(request.key);
    if (hold) held_.push_back(&request);
    else finish(request);
  }
  void finish(partition::AppendRequest& request) {
    request.error = append_error;
    request.outcome_unknown = outcome_unknown;
    if (append_error == model::ErrorCode::none && !outcome_unknown) {
      Log& log = *find(request.key);
      request.base_offset = log.next;
      request.log_start_offset = log.start;
      append(log, {request.batch.begin(), request.batch.end()});
    }
    io_.mailboxes.reply(request);
  }

  struct Lease {
    std::vector<std::vector<io::Slice>> pieces;
  };
  void on_read(io::Message& message) {
    auto& request = static_cast<partition::ReadRequest&>(message);
    auto* const lease = new Lease;
    request.lease = lease;
    ++leases;
    ++reads;
    lease->pieces.resize(request.items.size());
    uint64_t left = request.size_max;
    bool first = request.first_batch_whole;
    for (size_t i = 0; i < request.items.size(); ++i) {
      read(request.items[i], lease->pieces[i], left, first);
    }
    io_.mailboxes.reply(request);
  }
  void read(partition::ReadItem& item, std::vector<io::Slice>& pieces, uint64_t& left,
            bool& first) {
    Log* const log = find(item.key);
    item.error = read_error;
    if (log == nullptr) item.error = model::ErrorCode::unknown_topic_or_partition;
    else if (item.fetch_offset < log->start || item.fetch_offset > log->next)
      item.error = model::ErrorCode::offset_out_of_range;
    if (item.error != model::ErrorCode::none) return;
    item.high_watermark = item.last_stable_offset = log->next;
    item.log_start_offset = log->start;
    for (const auto& batch : log->batches) {
      if (log::BatchView(batch).next_offset() <= item.fetch_offset) continue;
      const size_t used = std::min<size_t>(item.size_max, item.size);
      const uint64_t limit = std::min<uint64_t>(left, item.size_max - used);
      if (!first && batch.size() > limit) break;
      first = false;
      left -= std::min<uint64_t>(left, batch.size());
      item.size += batch.size();
      // In two pieces, so that piece borders and batch borders differ.
      const size_t cut = batch.size() / 3;
      pieces.push_back({batch.data(), cut});
      pieces.push_back({batch.data() + cut, batch.size() - cut});
    }
    item.pieces = pieces;
  }
  void on_release(io::Message& message) {
    auto& request = static_cast<partition::ReadRequest&>(message);
    delete static_cast<Lease*>(request.lease);
    request.lease = nullptr;
    --leases;
    io_.mailboxes.reply(request);
  }

  bool is_due(const partition::WatchRequest& watch) {
    uint64_t size = 0;
    for (const partition::WatchItem& item : watch.items) {
      Log* const log = find(item.key);
      if (log == nullptr || item.fetch_offset < log->start) return true;
      uint64_t of_partition = 0;
      for (const auto& batch : log->batches) {
        if (log::BatchView(batch).base_offset() >= item.fetch_offset) of_partition += batch.size();
      }
      size += std::min<uint64_t>(of_partition, item.size_max);
    }
    return size >= watch.size_min;
  }
  void on_watch(io::Message& message) {
    auto& watch = static_cast<partition::WatchRequest&>(message);
    watch_sizes.push_back(watch.size_min);
    watches_.push_back(&watch);
    check_watches();
  }
  void on_cancel(io::Message& message) {
    auto& cancel = static_cast<partition::CancelWatch&>(message);
    if (std::erase(watches_, cancel.watch) > 0) io_.mailboxes.reply(*cancel.watch);
    io_.mailboxes.reply(cancel);
  }

  void on_offsets(io::Message& message) {
    auto& request = static_cast<partition::OffsetsRequest&>(message);
    Log* const log = find(request.key);
    if (log == nullptr) {
      request.error = model::ErrorCode::unknown_topic_or_partition;
    } else if (request.timestamp == -1) {
      request.offset = log->next;
      request.leader_epoch = 4;
    } else if (request.timestamp == -2 || request.timestamp == -4) {
      request.offset = log->start;
      request.leader_epoch = log->batches.empty() ? -1 : 4;
    } else if (!log->batches.empty()) {  // any time: as if all records were younger
      request.offset = log->start;
      request.found_timestamp = log::BatchView(log->batches[0]).max_timestamp();
      request.leader_epoch = 4;
    }
    io_.mailboxes.reply(request);
  }
  void on_delete_records(io::Message& message) {
    auto& request = static_cast<partition::DeleteRecordsRequest&>(message);
    Log* const log = find(request.key);
    if (log == nullptr) {
      request.error = model::ErrorCode::unknown_topic_or_partition;
    } else if (request.offset > log->next) {
      request.error = model::ErrorCode::offset_out_of_range;
    } else {
      log->start = request.offset == model::kNoOffset ? log->next : request.offset;
      request.low_watermark = log->start;
    }
    io_.mailboxes.reply(request);
  }
  void on_epoch_end(io::Message& message) {
    auto& request = static_cast<partition::EpochEndRequest&>(message);
    Log* const log = find(request.key);
    if (log == nullptr) {
      request.error = model::ErrorCode::unknown_topic_or_partition;
    } else {
      request.found_epoch = request.leader_epoch;
      request.end_offset = log->next;
    }
    io_.mailboxes.reply(request);
  }

  void on_log_sizes(io::Message& message) {
    auto& request = static_cast<partition::LogSizesRequest&>(message);
    for (partition::LogSizeItem& item : request.items) {
      Log* const log = find(item.key);
      if (log == nullptr) continue;
      item.size_bytes = 0;
      for (const auto& batch : log->batches) item.size_bytes += static_cast<int64_t>(batch.size());
    }
    io_.mailboxes.reply(request);
  }

  io::CoreIo& io_;
  std::map<model::PartitionKey, Log> logs_;
  std::vector<partition::AppendRequest*> held_;
  std::vector<partition::WatchRequest*> watches_;
};

}  // namespace weir::handlers
