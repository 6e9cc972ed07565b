#include "bench/load/worker.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/load/times.h"

namespace weir::load {
namespace {

constexpr int64_t kIdleWait_ns = 50'000'000;
constexpr int64_t kDrainWait_ns = 1'000'000;

}  // namespace

base::Result<std::unique_ptr<Worker>> Worker::open(const Plan& plan, int32_t index,
                                                   const BatchFactory* batches, Shared& shared,
                                                   const Window& window) {
  std::unique_ptr<Worker> worker(new Worker(plan, shared, window));
  worker->epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (worker->epoll_ < 0) return base::error(errno, "epoll_create1 failed");
  CHECK_OK(worker->open_connections(index, batches));
  return worker;
}

Worker::~Worker() {
  if (epoll_ >= 0) ::close(epoll_);
}

base::Status Worker::open_connections(int32_t index, const BatchFactory* batches) {
  const ProducerPlan& producer = plan_.producer;
  for (int32_t i = index; i < producer.connections; i += plan_.threads) {
    TRY(auto opened, Producer::open(plan_, i, *batches, recorder_, shared_.acked_ends));
    CHECK_OK(watch(opened->connection(), static_cast<uint32_t>(producers_.size())));
    producers_.push_back(std::move(opened));
  }
  const int32_t consumers = plan_.consumer.readers * plan_.consumer.connections;
  for (int32_t i = index; i < consumers; i += plan_.threads) {
    TRY(auto opened, Consumer::open(plan_, i, recorder_, shared_.acked_ends));
    CHECK_OK(watch(opened->connection(),
                   static_cast<uint32_t>(producers_.size() + consumers_.size())));
    consumers_.push_back(std::move(opened));
  }
  if (producers_.empty()) {
    producing_ = false;
    return {};
  }
  ++shared_.producing;
  if (!producer.open_loop()) return {};
  const Batch& batch = batches->batch(0, 0);
  const double starts = producer.bytes_per_second > 0
                            ? producer.bytes_per_second / static_cast<double>(batch.bytes.size())
                            : producer.records_per_second / batch.record_count;
  starts_per_second_ = starts * static_cast<double>(producers_.size()) / producer.connections;
  // The workers' starts lie between one another.
  schedule_offset_ns_ = static_cast<int64_t>(1e9 / starts * index);
  return {};
}

base::Status Worker::watch(KafkaConnection& connection, uint32_t number) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u32 = number;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.descriptor(), &event) == 0) return {};
  return base::error(errno, "epoll_ctl failed");
}

void Worker::run(int64_t start_ns) {
  ::prctl(PR_SET_TIMERSLACK, 1);  // sleeps end when they should
  drain_end_ns_ = recorder_.window().to_ns + plan_.drain_ms_max * 1'000'000;
  if (starts_per_second_ > 0) {
    schedule_.emplace(starts_per_second_, start_ns + schedule_offset_ns_, plan_.producer.arrivals,
                      uint64_t{plan_.run_id} + 1);
  }
  closed_loop_ = !producers_.empty() && !schedule_;
  if (auto status = loop(); !status) {
    recorder_.results().failure = status.error().detail;
    shared_.stop = true;
  }
  if (producing_) --shared_.producing;
  count_unanswered();
  recorder_.publish();
}

base::Status Worker::loop() {
  int64_t next_publish_ns = 0;
  // From then on each is looked at when something happened to it.
  for (auto& producer : producers_) CHECK_OK(producer->pump(closed_loop_));
  for (auto& consumer : consumers_) CHECK_OK(consumer->pump());
  while (!shared_.stop) {
    const int64_t now = now_ns();
    if (now >= recorder_.window().to_ns) closed_loop_ = false;
    if (finished(now)) return {};
    if (now >= next_publish_ns) {
      recorder_.publish();
      next_publish_ns = now + kPublishInterval_ns;
    }
    CHECK_OK(offer_due(now));
    CHECK_OK(take_events(wait_ns(schedule_ ? now_ns() : now)));
  }
  return {};
}

base::Status Worker::offer_due(int64_t now_ns) {
  if (!schedule_) return {};
  const int64_t until = std::min(now_ns, recorder_.window().to_ns - 1);
  while (schedule_->next_ns() <= until) {
    if (recorder_.window().contains(schedule_->next_ns())) ++recorder_.results().intended;
    Producer& producer = *producers_[next_producer_];
    next_producer_ = next_producer_ + 1 == producers_.size() ? 0 : next_producer_ + 1;
    producer.offer(schedule_->next_ns());
    schedule_->pop();
    CHECK_OK(producer.pump(false));
  }
  return {};
}

int64_t Worker::wait_ns(int64_t now_ns) const {
  if (plan_.spin) return 0;
  if (now_ns >= recorder_.window().to_ns) return kDrainWait_ns;
  int64_t until = std::min(now_ns + kIdleWait_ns, recorder_.window().to_ns);
  if (schedule_) until = std::min(until, schedule_->next_ns());
  return std::max<int64_t>(0, until - now_ns);
}

base::Status Worker::take_events(int64_t wait_ns) {
  epoll_event events[kEventsMax];
  const timespec timeout{.tv_sec = wait_ns / 1'000'000'000, .tv_nsec = wait_ns % 1'000'000'000};
  const int count = ::epoll_pwait2(epoll_, events, kEventsMax, &timeout, nullptr);
  if (count < 0 && errno != EINTR) {
    return base::error(errno, fmt::format("epoll_pwait2: {}", std::strerror(errno)));
  }
  for (int i = 0; i < count; ++i) CHECK_OK(on_event(events[i].data.u32, events[i].events));
  return {};
}

base::Status Worker::on_event(uint32_t number, uint32_t events) {
  const bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;
  // The end of the stream may come together with the last bytes.
  const bool ended = (events & (EPOLLHUP | EPOLLRDHUP)) != 0;
  if (number < producers_.size()) {
    Producer& producer = *producers_[number];
    if (readable) CHECK_OK(producer.on_readable());
    if (ended) CHECK_OK(producer.on_readable());
    return producer.pump(closed_loop_);
  }
  Consumer& consumer = *consumers_[number - producers_.size()];
  if (readable) CHECK_OK(consumer.on_readable());
  if (ended) CHECK_OK(consumer.on_readable());
  return consumer.pump();
}

bool Worker::finished(int64_t now_ns) {
  if (now_ns < recorder_.window().to_ns) return false;
  if (now_ns >= drain_end_ns_) return true;
  const bool answered = std::ranges::all_of(producers_, [](const auto& p) { return p->idle(); });
  if (!answered) return false;
  if (producing_) {
    producing_ = false;
    --shared_.producing;
  }
  if (shared_.producing > 0) return consumers_.empty();
  const bool wraps = plan_.consumer.again_at_end;
  for (auto& consumer : consumers_) {
    if (wraps || consumer->caught_up()) consumer->stop();
  }
  return std::ranges::all_of(consumers_, [&](const auto& consumer) {
    return consumer->idle() && (wraps || consumer->caught_up());
  });
}

void Worker::count_unanswered() {
  if (shared_.stop) return;  // nobody waited for the rest
  for (const auto& producer : producers_) recorder_.results().unanswered += producer->unanswered();
  for (auto& consumer : consumers_) consumer->report_unread();
}

}  // namespace weir::load
