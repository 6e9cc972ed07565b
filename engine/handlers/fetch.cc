#include "engine/handlers/fetch.h"

#include <algorithm>

#include "engine/handlers/context.h"
#include "engine/model/ports.h"
#include "io/base/units.h"

namespace weir::handlers {

using model::ErrorCode;
namespace ports = model::ports;

namespace {

constexpr int16_t kLastVersionWithoutStorageError = 5;
constexpr int16_t kFirstVersionWithLeader = 16;  // beside the error of whoever asks another
constexpr int32_t kSessionEpochFull = 0;
constexpr int32_t kSessionEpochNone = -1;

}  // namespace

void start_fetch(Request& request) { request.run<FetchHandler>(); }

FetchHandler::Core::Core(FetchHandler& owner_handler, const FetchShare& its_share)
    : owner(owner_handler), share(its_share) {
  read.bind_reply<&FetchHandler::on_read_back>(owner);
  watch.bind_reply<&Core::on_watch_back>(*this);
  cancel.bind_reply<&FetchHandler::on_cancel_back>(owner);
  cancel.watch = &watch;
  read.items = share.items;
}

FetchHandler::~FetchHandler() { std::destroy_n(cores_, core_count_); }

void FetchHandler::start() {
  if (!request_.decode(in_)) return;
  if (in_.session_epoch != kSessionEpochFull && in_.session_epoch != kSessionEpochNone) {
    return request_.respond(
        Response{.error_code = static_cast<int16_t>(ErrorCode::fetch_session_id_not_found)});
  }
  if (charge_.prepare(request_, catalog::QuotaKind::fetch)) {
    charge_.may_refuse = true;
    in_.max_bytes =
        static_cast<int32_t>(std::min(static_cast<double>(in_.max_bytes), charge_.capacity));
  }
  if (!plan_.build(in_, request_.api_version(), context(), arena()) || !make_cores()) {
    return request_.close_connection("request too large for its memory");
  }
  const int32_t wait_ms = std::min(in_.max_wait_ms, context().config.fetch_wait_ms_max);
  deadline_ = request_.received_at() + std::max(wait_ms, 0) * base::operator""_ms(1);
  over_ = wait_ms <= 0;
  size_min_ = std::min(static_cast<uint64_t>(std::max(in_.min_bytes, 0)), plan_.size_max);
  if (core_count_ == 0) return respond();  // nothing to read, nothing to wait for
  send_reads();
}

bool FetchHandler::make_cores() {
  const size_t count = plan_.shares.size();
  cores_ = static_cast<Core*>(arena().allocate(count * sizeof(Core), alignof(Core)));
  if (cores_ == nullptr && count > 0) return false;
  for (const FetchShare& share : plan_.shares) {
    std::construct_at(&cores_[core_count_++], *this, share);
  }
  return true;
}

void FetchHandler::send_reads() {
  stage_ = Stage::reading;
  for (size_t i = 0; i < core_count_; ++i) {
    Core& core = cores_[i];
    for (partition::ReadItem& item : core.share.items) {
      item.error = ErrorCode::none;
      item.diverging_epoch = -1;
      item.pieces = {};
      item.aborted = {};
      item.size = 0;
    }
    core.read.size_max = core.share.size_max;
    core.read.bind_reply<&FetchHandler::on_read_back>(*this);
    core.leased = true;
    ++away_;
    context().io.mailboxes.send(core.share.core, ports::kRead, core.read);
  }
}

void FetchHandler::on_read_back(io::Message&) {
  ASSERT(stage_ == Stage::reading && away_ > 0);
  if (--away_ == 0) after_read();
}

void FetchHandler::after_read() {
  uint64_t size = 0;
  bool any_news = false;  // of the kind that is worth an answer at once
  for (size_t i = 0; i < core_count_; ++i) {
    Core& core = cores_[i];
    core.size_read = 0;
    for (const partition::ReadItem& item : core.share.items) {
      core.size_read += item.size;
      any_news = any_news || item.error != ErrorCode::none || item.diverging_epoch >= 0;
    }
    size += core.size_read;
  }
  const bool enough = is_enough(size, any_news);
  size_seen_ = size;
  if (enough) return charge_quota();
  wait();
}

void FetchHandler::charge_quota() {
  if (size_seen_ == 0 || !charge_.prepare(request_, catalog::QuotaKind::fetch)) return respond();
  stage_ = Stage::charging;
  charge_.amount = static_cast<double>(size_seen_);
  charge_.send(context());
}

void FetchHandler::on_charged(io::Message&) {
  ASSERT(stage_ == Stage::charging);
  request_.throttle(charge_.throttle_ms);
  if (!charge_.refused) return respond();
  stage_ = Stage::answered;
  ++context().metrics.fetch_responses;
  request_.respond(Response{});
}

bool FetchHandler::is_enough(uint64_t size, bool any_news) const {
  if (any_news || over_ || size >= size_min_) return true;
  return waited_ && (core_count_ == 1 || size <= size_seen_);
}

void FetchHandler::wait() {
  if (context().io.clock.now() >= deadline_ || !make_watches()) return charge_quota();
  stage_ = Stage::watching;
  if (!waited_) {
    waited_ = true;
    ++context().metrics.fetch_waits;
    deadline_timer_.bind<&FetchHandler::on_deadline>(*this);
  }
  context().io.loop.timers().arm(deadline_timer_, deadline_);
  const uint64_t missing = size_min_ - size_seen_;
  const uint64_t missing_per_core = (missing + core_count_ - 1) / core_count_;
  for (size_t i = 0; i < core_count_; ++i) {
    give_back(cores_[i]);
    send_watch(cores_[i], cores_[i].size_read + missing_per_core);
  }
}

bool FetchHandler::make_watches() {
  for (size_t i = 0; i < core_count_; ++i) {
    Core& core = cores_[i];
    if (!core.watch.items.empty()) continue;
    auto* const items = arena().make_array<partition::WatchItem>(core.share.items.size());
    if (items == nullptr) return false;
    for (size_t k = 0; k < core.share.items.size(); ++k) {
      const partition::ReadItem& item = core.share.items[k];
      items[k] = {.key = item.key,
                  .fetch_offset = item.fetch_offset,
                  .size_max = item.size_max,
                  .read_committed = item.read_committed};
    }
    core.watch.items = {items, core.share.items.size()};
  }
  return true;
}

void FetchHandler::send_watch(Core& core, uint64_t size_min) {
  core.watch.size_min = size_min;
  core.watched = true;
  ++away_;
  context().io.mailboxes.send(core.share.core, ports::kWatch, core.watch);
}

void FetchHandler::Core::on_watch_back(io::Message&) {
  watched = false;
  owner.stop_waiting();
  owner.one_back();
}

// The first news, the deadline or a lost client: everybody else is called back.
void FetchHandler::stop_waiting() {
  if (stage_ != Stage::watching) return;
  stage_ = Stage::collecting;
  context().io.loop.timers().cancel(deadline_timer_);
  for (size_t i = 0; i < core_count_; ++i) {
    Core& core = cores_[i];
    if (!core.watched) continue;
    ++away_;
    context().io.mailboxes.send(core.share.core, ports::kCancelWatch, core.cancel);
  }
}

void FetchHandler::on_deadline() {
  over_ = true;
  ++context().metrics.fetch_wait_timeouts;
  stop_waiting();
}

void FetchHandler::on_abandoned() {
  over_ = true;
  stop_waiting();
}

void FetchHandler::on_cancel_back(io::Message&) { one_back(); }

void FetchHandler::give_back(Core& core) {
  core.leased = false;
  core.read.bind_reply<&FetchHandler::on_released>(*this);
  ++away_;
  context().io.mailboxes.send(core.share.core, ports::kReleaseRead, core.read);
}

void FetchHandler::on_released(io::Message&) { one_back(); }

void FetchHandler::one_back() {
  ASSERT(away_ > 0);
  if (--away_ > 0) return;
  if (stage_ == Stage::collecting) send_reads();
  else if (stage_ == Stage::answered) request_.released();
}

bool FetchHandler::release() {
  ASSERT(away_ == 0);
  stage_ = Stage::answered;
  for (size_t i = 0; i < core_count_; ++i) {
    if (cores_[i].leased) give_back(cores_[i]);
  }
  return away_ == 0;
}

void FetchHandler::respond() {
  stage_ = Stage::answered;
  Response out;
  size_t topic_count = 0;
  for (const FetchTopic& topic : plan_.topics) topic_count += topic.entry_count > 0 ? 1 : 0;
  out.responses = wire::make_array<Response::Topic>(arena(), topic_count);
  Response::Topic** const by_topic = arena().make_array<Response::Topic*>(plan_.topics.size());
  if (out.responses.is_null() || by_topic == nullptr) {
    return request_.close_connection("request too large for its memory");
  }
  size_t next_topic = 0;
  for (size_t i = 0; i < plan_.topics.size(); ++i) {
    const FetchTopic& topic = plan_.topics[i];
    if (topic.entry_count == 0) continue;
    by_topic[i] = &out.responses[next_topic++];
    by_topic[i]->topic = topic.in->topic;
    by_topic[i]->topic_id = topic.in->topic_id;
    auto partitions = wire::make_array<Response::Partition>(arena(), topic.entry_count);
    if (partitions.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    by_topic[i]->partitions = {partitions.data(), 0};
  }
  uint64_t left = plan_.size_max;
  bool first = true;
  for (const FetchEntry& entry : plan_.entries) {
    auto& partitions = by_topic[entry.topic]->partitions;
    partitions = {partitions.data(), partitions.size() + 1};
    report(entry, partitions[partitions.size() - 1], left, first);
  }
  ++context().metrics.fetch_responses;
  request_.respond(out);
}

void FetchHandler::report(const FetchEntry& entry, Response::Partition& out, uint64_t& left,
                          bool& first) {
  const partition::ReadItem* const item = entry.item;
  ErrorCode error = item == nullptr ? entry.error : item->error;
  if (error == ErrorCode::kafka_storage_error &&
      request_.api_version() <= kLastVersionWithoutStorageError) {
    error = ErrorCode::not_leader_or_follower;
  }
  out.partition_index = entry.in->partition;
  out.error_code = static_cast<int16_t>(error);
  out.high_watermark = -1;
  // Empty where the partition is unknown here, null where its log said no: as Kafka has it.
  const bool follower = entry.error == ErrorCode::not_leader_or_follower;
  if (follower || (item != nullptr && (error != ErrorCode::none || !item->read_committed))) {
    out.aborted_transactions = wire::Array<Response::AbortedTransaction>::null();
  }
  if (follower && request_.api_version() >= kFirstVersionWithLeader) {
    out.current_leader = {.leader_id = context().node.node_id,
                          .leader_epoch = context().node.leader_epoch};
  }
  if (error != ErrorCode::none) {
    ++context().metrics.fetch_errors;
    return;
  }
  out.high_watermark = item->high_watermark.value();
  out.last_stable_offset = item->last_stable_offset.value();
  out.log_start_offset = item->log_start_offset.value();
  if (item->diverging_epoch >= 0) {
    out.diverging_epoch = {.epoch = item->diverging_epoch,
                           .end_offset = item->diverging_end_offset.value()};
    return;
  }
  // Home cores read side by side, each with its own first batch: what is too much is left out here.
  if (item->size == 0 || (!first && item->size > std::min<uint64_t>(left, item->size_max))) return;
  if (!item->aborted.empty() && !report_aborted(*item, out)) return;
  first = false;
  left -= std::min<uint64_t>(left, item->size);
  out.records = chain(item->pieces);
  context().metrics.fetch_bytes += item->size;
}

// Without memory for them no records may go out either: aborted ones would pass for committed.
bool FetchHandler::report_aborted(const partition::ReadItem& item, Response::Partition& out) {
  auto all = wire::make_array<Response::AbortedTransaction>(arena(), item.aborted.size());
  if (all.is_null()) return false;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = {.producer_id = item.aborted[i].producer_id.value(),
              .first_offset = item.aborted[i].first_offset.value()};
  }
  out.aborted_transactions = all;
  return true;
}

wire::RecordsChain FetchHandler::chain(std::span<const io::Slice> pieces) {
  wire::Bytes* const all = arena().make_array<wire::Bytes>(pieces.size());
  if (all == nullptr) return {};
  for (size_t i = 0; i < pieces.size(); ++i) all[i] = {pieces[i].data, pieces[i].size};
  return {.pieces = {all, pieces.size()}};
}

}  // namespace weir::handlers
