#include "bench/load/runner.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "bench/load/times.h"
#include "bench/load/worker.h"

namespace weir::load {
base::Result<Results> run_load(const Plan& plan, RunListener& listener) {
  std::optional<BatchFactory> batches;
  if (plan.producer.connections > 0) {
    TRY(batches, BatchFactory::make(plan.producer.batches));
  }
  Shared shared(plan.target.leaders.size());
  // Connections first: how long they take is not known.
  Window window;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Recorder*> recorders;
  for (int32_t i = 0; i < plan.threads; ++i) {
    TRY(auto worker, Worker::open(plan, i, batches ? &*batches : nullptr, shared, window));
    recorders.push_back(&worker->recorder());
    workers.push_back(std::move(worker));
  }
  const int64_t start_ns = now_ns() + kStartDelay_ns;
  window = window_of(plan, start_ns);
  std::atomic<size_t> running = workers.size();
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&running, &worker, start_ns] {
      worker->run(start_ns);
      --running;
    });
  }
  RunWatch watch(window, start_ns, listener, recorders, shared.stop);
  watch.run(running);
  for (std::thread& thread : threads) thread.join();
  Results results;
  for (const Recorder* recorder : recorders) results.merge(recorder->results());
  for (int32_t p = 0; p < plan.target.partition_count(); ++p) {
    results.acked_ends.push_back(shared.acked_ends.get(p));
  }
  results.seconds = watch.seconds();
  results.generator_cpu_s = watch.generator_cpu_s();
  return results;
}

}  // namespace weir::load
