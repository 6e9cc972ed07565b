#include "bench/load/rdkafka_runner.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>

#include "bench/load/rdkafka_consumer.h"
#include "bench/load/rdkafka_producer.h"
#include "bench/load/times.h"

namespace weir::load {
namespace {

constexpr int64_t kPublishInterval_ns = 100'000'000;
constexpr int32_t kServe_ms = 1;
constexpr int32_t kServeIdle_ms = 20;

// One thread's producers and their schedule.
class ProducerThread {
 public:
  ProducerThread(const Plan& plan, const Window& window, std::atomic<bool>& stop)
      : plan_(plan), stop_(stop), recorder_(window, plan.consumer.readers > 0) {}

  void add(std::unique_ptr<RdkafkaProducer> producer) {
    producers_.push_back(std::move(producer));
  }
  Recorder& recorder() { return recorder_; }
  void run(int64_t start_ns);

 private:
  void offer_due(int64_t now);
  // Hands waiting starts to the library as far as it takes them.
  void send_due();
  void serve();
  void drain();

  const Plan& plan_;
  std::atomic<bool>& stop_;
  Recorder recorder_;
  std::vector<std::unique_ptr<RdkafkaProducer>> producers_;
  std::optional<Schedule> schedule_;
  std::deque<int64_t> due_;
  size_t next_ = 0;
};

void ProducerThread::run(int64_t start_ns) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  const ProducerPlan& producer = plan_.producer;
  if (producer.open_loop()) {
    const double records = producer.records_per_second > 0
                               ? producer.records_per_second
                               : producer.bytes_per_second /
                                     static_cast<double>(std::max<size_t>(
                                         1, producer.batches.value_size));
    schedule_.emplace(records * static_cast<double>(producers_.size()) / producer.connections,
                      start_ns, producer.arrivals, uint64_t{plan_.run_id} + 1);
  }
  int64_t next_publish_ns = start_ns;
  while (!stop_) {
    const int64_t now = now_ns();
    if (now >= recorder_.window().to_ns) break;
    if (now >= next_publish_ns) {
      recorder_.publish();
      next_publish_ns = now + kPublishInterval_ns;
    }
    offer_due(now);
    send_due();
    serve();
    if (!schedule_ || !due_.empty()) continue;
    const int64_t wait_ns = schedule_->next_ns() - now_ns();
    if (wait_ns > 0 && !plan_.spin) {
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::min<int64_t>(wait_ns, kServe_ms * 1'000'000)));
    }
  }
  drain();
  recorder_.publish();
}

void ProducerThread::offer_due(int64_t now) {
  if (!schedule_) {
    // Closed loop: as many as the queue takes; a bounded step, so that reports are served.
    constexpr size_t kStep = 1000;
    if (due_.empty()) due_.assign(kStep, now);
    return;
  }
  const int64_t until = std::min(now, recorder_.window().to_ns - 1);
  while (schedule_->next_ns() <= until) {
    if (recorder_.window().contains(schedule_->next_ns())) ++recorder_.results().intended;
    due_.push_back(schedule_->next_ns());
    schedule_->pop();
  }
}

void ProducerThread::send_due() {
  size_t full = 0;
  while (!due_.empty() && full < producers_.size()) {
    const int64_t now = now_ns();
    // What waits in a closed loop starts when it is handed over.
    const int64_t intended = schedule_ ? due_.front() : now;
    RdkafkaProducer& producer = *producers_[next_];
    next_ = next_ + 1 == producers_.size() ? 0 : next_ + 1;
    if (!producer.produce(intended)) {
      ++full;
      continue;
    }
    full = 0;
    if (schedule_ && recorder_.window().contains(intended)) {
      recorder_.results().start_delay.add(now - intended);
    }
    due_.pop_front();
  }
  if (full > 0) producers_[next_]->serve(kServe_ms);
}

void ProducerThread::serve() {
  for (auto& producer : producers_) producer->serve(0);
}

void ProducerThread::drain() {
  const int64_t end_ns = recorder_.window().to_ns + plan_.drain_ms_max * 1'000'000;
  const auto waiting = [&] {
    size_t count = schedule_ ? due_.size() : 0;
    for (const auto& producer : producers_) count += producer->unanswered();
    return count;
  };
  while (!stop_ && waiting() > 0 && now_ns() < end_ns) {
    if (schedule_) send_due();
    serve();
    producers_[next_]->serve(kServe_ms);
  }
  if (!stop_) recorder_.results().unanswered += waiting();
  for (auto& producer : producers_) producer->abandon();
}

class Run {
 public:
  Run(const RdkafkaLibrary& library, const Plan& plan, const RdkafkaOptions& options)
      : library_(library),
        plan_(plan),
        options_(options),
        acked_ends_(plan.target.leaders.size()) {}
  // Members end before what they use.
  ~Run() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  base::Status open();
  Results run(RunListener& listener);

 private:
  struct Member {
    std::unique_ptr<RdkafkaConsumer> consumer;
    std::unique_ptr<Recorder> recorder;
    ReaderGroup* group = nullptr;
  };

  base::Status open_readers();
  base::Status wait_joined();
  void read(Member& member);

  const RdkafkaLibrary& library_;
  const Plan& plan_;
  const RdkafkaOptions& options_;
  AckedEnds acked_ends_;
  Window window_{.from_ns = INT64_MAX, .to_ns = INT64_MAX};  // until the run begins
  std::atomic<bool> begun_{false};
  std::atomic<bool> stop_{false};
  std::atomic<size_t> producing_{0};
  std::atomic<size_t> running_{0};
  std::vector<std::unique_ptr<ProducerThread>> producers_;
  std::vector<std::unique_ptr<ReaderGroup>> groups_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::thread> threads_;
};

base::Status Run::open() {
  const auto count = static_cast<size_t>(std::min(plan_.threads, plan_.producer.connections));
  for (size_t i = 0; i < count; ++i) {
    producers_.push_back(std::make_unique<ProducerThread>(plan_, window_, stop_));
  }
  for (int32_t i = 0; i < plan_.producer.connections; ++i) {
    ProducerThread& thread = *producers_[static_cast<size_t>(i) % count];
    TRY(auto producer, RdkafkaProducer::open(library_, plan_, options_, i, thread.recorder(),
                                             acked_ends_));
    thread.add(std::move(producer));
  }
  return open_readers();
}

base::Status Run::open_readers() {
  const auto& from =
      plan_.consumer.from_start ? plan_.target.start_offsets : plan_.target.end_offsets;
  for (int32_t reader = 0; reader < plan_.consumer.readers; ++reader) {
    groups_.push_back(std::make_unique<ReaderGroup>(from));
    for (int32_t i = 0; i < plan_.consumer.connections; ++i) {
      auto member = std::make_unique<Member>();
      member->group = groups_.back().get();
      member->recorder = std::make_unique<Recorder>(window_, true);
      TRY(member->consumer, RdkafkaConsumer::open(library_, plan_, options_, reader,
                                                  *member->group, *member->recorder));
      members_.push_back(std::move(member));
    }
  }
  running_ = members_.size();
  for (const auto& member : members_) {
    threads_.emplace_back([this, &member] { read(*member); });
  }
  return wait_joined();
}

base::Status Run::wait_joined() {
  const int64_t give_up_ns = now_ns() + kJoinTimeout_ms * 1'000'000;
  const int32_t wanted = plan_.target.partition_count();
  for (const auto& group : groups_) {
    while (group->assigned < wanted) {
      if (now_ns() > give_up_ns) {
        return base::error(0, fmt::format("groups of librdkafka had {} of {} partitions after {} s",
                                          group->assigned.load(), wanted,
                                          kJoinTimeout_ms / 1000));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return {};
}

void Run::read(Member& member) {
  int64_t next_publish_ns = 0;
  while (!stop_) {
    // The window is known once the run has begun.
    member.consumer->serve(kServeIdle_ms, begun_);
    const int64_t now = now_ns();
    if (now >= next_publish_ns) {
      member.recorder->publish();
      next_publish_ns = now + kPublishInterval_ns;
    }
    if (!begun_ || now < window_.to_ns) continue;
    const bool late = now >= window_.to_ns + plan_.drain_ms_max * 1'000'000;
    if (late || (producing_ == 0 && member.group->caught_up(acked_ends_))) break;
  }
  member.consumer->close();
  member.recorder->publish();
  --running_;
}

Results Run::run(RunListener& listener) {
  const int64_t start_ns = now_ns() + kStartDelay_ns;
  window_ = window_of(plan_, start_ns);
  producing_ = producers_.size();
  running_ += producers_.size();
  begun_ = true;
  std::vector<Recorder*> recorders;
  for (const auto& producer : producers_) {
    recorders.push_back(&producer->recorder());
    threads_.emplace_back([this, &producer, start_ns] {
      producer->run(start_ns);
      --producing_;
      --running_;
    });
  }
  for (const auto& member : members_) recorders.push_back(member->recorder.get());
  RunWatch watch(window_, start_ns, listener, recorders, stop_);
  watch.run(running_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  Results results;
  for (const Recorder* recorder : recorders) results.merge(recorder->results());
  results.seconds = watch.seconds();
  results.generator_cpu_s = watch.generator_cpu_s();
  // Who ended it early did not wait for the rest.
  if (stop_) return results;
  for (const auto& group : groups_) group->report_unread(acked_ends_, results.verification);
  return results;
}

}  // namespace

base::Result<Results> run_rdkafka(const Plan& plan, const RdkafkaOptions& options,
                                  RunListener& listener) {
  TRY(const RdkafkaLibrary library, RdkafkaLibrary::load());
  Run run(library, plan, options);
  CHECK_OK(run.open());
  return run.run(listener);
}

}  // namespace weir::load
