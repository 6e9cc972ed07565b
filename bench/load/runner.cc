#include "bench/load/runner.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "bench/load/times.h"

namespace weir::load {
namespace {

// Between opening connections and the first start.
constexpr int64_t kStartDelay_ns = 2'000'000;

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void sleep_until(int64_t time_ns) {
  const int64_t left = time_ns - now_ns();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

// Tells the listener of the run's parts until all workers have ended.
class Watch {
 public:
  Watch(const Window& window, int64_t start_ns, RunListener& listener, Shared& shared,
        std::vector<std::unique_ptr<Worker>>& workers)
      : window_(window),
        start_ns_(start_ns),
        listener_(listener),
        shared_(shared),
        workers_(workers) {}

  void run(const std::atomic<size_t>& running) {
    int64_t next_ns = start_ns_;
    while (running > 0) {
      next_ns += kProgressInterval_ms * 1'000'000;
      int64_t until = next_ns;
      if (stage_ == Stage::warmup) until = std::min(until, window_.from_ns);
      if (stage_ == Stage::measure) until = std::min(until, window_.to_ns);
      if (stage_ == Stage::drain) until = now_ns() + 5'000'000;
      sleep_until(until);
      step(now_ns(), running > 0);
    }
    if (stage_ != Stage::drain) end_measure();
  }

  double seconds = 0;
  double cpu_s = 0;

 private:
  enum class Stage : uint8_t { warmup, measure, drain };

  void step(int64_t now, bool running) {
    if (stage_ == Stage::warmup && now >= window_.from_ns) {
      stage_ = Stage::measure;
      begin_cpu_s_ = own_cpu_seconds();
      listener_.on_measure_begin();
    }
    if (stage_ == Stage::measure && now >= window_.to_ns) end_measure();
    if (!running || now - told_ns_ < kProgressInterval_ms * 1'000'000) return;
    told_ns_ = now;
    Live live;
    for (const auto& worker : workers_) live.merge(worker->recorder().take_live());
    if (!listener_.on_progress((now - start_ns_) / 1'000'000, live)) shared_.stop = true;
  }

  // Also when the run ended early: then with the time there was.
  void end_measure() {
    if (stage_ == Stage::measure) {
      const int64_t end_ns = std::min(now_ns(), window_.to_ns);
      seconds = static_cast<double>(std::max<int64_t>(1, end_ns - window_.from_ns)) * 1e-9;
      cpu_s = own_cpu_seconds() - begin_cpu_s_;
      listener_.on_measure_end();
    }
    stage_ = Stage::drain;
  }

  const Window& window_;
  const int64_t start_ns_;
  RunListener& listener_;
  Shared& shared_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  Stage stage_ = Stage::warmup;
  int64_t told_ns_ = 0;
  double begin_cpu_s_ = 0;
};

}  // namespace

base::Result<Results> run_load(const Plan& plan, RunListener& listener) {
  std::optional<BatchFactory> batches;
  if (plan.producer.connections > 0) {
    TRY(batches, BatchFactory::make(plan.producer.batches));
  }
  Shared shared(plan.target.leaders.size());
  // Connections first: how long they take is not known.
  Window window;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int32_t i = 0; i < plan.threads; ++i) {
    TRY(auto worker, Worker::open(plan, i, batches ? &*batches : nullptr, shared, window));
    workers.push_back(std::move(worker));
  }
  const int64_t start_ns = now_ns() + kStartDelay_ns;
  window = {.from_ns = start_ns + plan.warmup_ms * 1'000'000,
            .to_ns = start_ns + (plan.warmup_ms + plan.duration_ms) * 1'000'000};
  std::atomic<size_t> running = workers.size();
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&running, &worker, start_ns] {
      worker->run(start_ns);
      --running;
    });
  }
  Watch watch(window, start_ns, listener, shared, workers);
  watch.run(running);
  for (std::thread& thread : threads) thread.join();
  Results results;
  for (const auto& worker : workers) results.merge(worker->recorder().results());
  results.seconds = watch.seconds;
  results.generator_cpu_s = watch.cpu_s;
  return results;
}

}  // namespace weir::load
