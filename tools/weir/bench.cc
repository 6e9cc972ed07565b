// weir bench

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/load/device_probe.h"
#include "bench/load/quantity.h"
#include "bench/load/rdkafka_runner.h"
#include "bench/load/runner.h"
#include "bench/scenarios/scenarios.h"
#include "tools/weir/bench_options.h"
#include "tools/weir/bench_procedures.h"
#include "tools/weir/bench_progress.h"
#include "tools/weir/bench_report.h"
#include "tools/weir/bench_target.h"
#include "tools/weir/commands.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

constexpr int64_t kProbe_ms = 300;
constexpr size_t kProbeLarge = size_t{1} << 20;

std::string random_text() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

void list_scenarios() {
  for (const auto& scenario : scenarios::all_scenarios()) {
    fmt::print("{:<4} {:<24} {}\n", scenario.name, scenario.title, scenario.about);
    for (const auto& step : scenario.steps) fmt::print("       {}\n", step.label);
  }
}

// One `weir bench`: its broker, and its steps one after another.
class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options), steps_(steps_of(options)) {
    // What is wrong with any step is said before the first one runs.
    for (const scenarios::Step& step : steps_) plan_of(options_, step, 1);
  }

  int run();

 private:
  int run_steps();
  StepReport run_step(const scenarios::Step& step);
  void measure(const scenarios::Step& step, WireClient& client, StepReport& report);
  void prepare_topic(const scenarios::Step& step, WireClient& client);
  void drop_topic();
  void produce_backlog(const load::Plan& plan);
  base::Result<load::Results> run_client(const load::Plan& plan, BenchProgress& progress) const;
  void probe(StepReport& report);
  [[nodiscard]] const std::string& bootstrap() const {
    return broker_ ? broker_->bootstrap() : options_.bootstrap;
  }
  [[nodiscard]] pid_t broker_pid() const {
    return broker_ ? broker_->pid() : static_cast<pid_t>(options_.broker_pid);
  }
  [[nodiscard]] std::string scenario_name() const {
    const auto* scenario = scenarios::find_scenario(options_.scenario);
    return scenario == nullptr ? "custom" : std::string(scenario->name);
  }

  const BenchOptions& options_;
  std::vector<scenarios::Step> steps_;
  std::optional<EphemeralBroker> broker_;
  std::string fresh_topic_;  // to be removed; empty: there is none
  double first_bytes_ = 0;   // a second, of the first step
};

int Bench::run() {
  if (options_.bootstrap.empty()) broker_.emplace(options_.broker);
  watch_interrupts();
  try {
    return run_steps();
  } catch (const Failure&) {
    // What was wrong is said; a broker that cannot be asked any more keeps the topic.
    try {
      drop_topic();
    } catch (const Failure&) {
    }
    throw;
  }
}

int Bench::run_steps() {
  BenchTables tables;
  bool sound = true;
  for (const scenarios::Step& step : steps_) {
    if (interrupted_by() != 0) break;
    const StepReport report = run_step(step);
    if (&step == &steps_.front() && report.results.seconds > 0) {
      first_bytes_ = static_cast<double>(report.results.acked.bytes) / report.results.seconds;
    }
    sound = sound && report.sound();
    if (options_.json) {
      fmt::print("{}\n", to_json(report).dump());
      std::fflush(stdout);
    } else {
      tables.add(report);
    }
  }
  drop_topic();
  if (!options_.json) tables.print();
  if (const int signal = interrupted_by(); signal != 0) return kExitInterrupted + signal;
  return sound ? 0 : kExitFailed;
}

StepReport Bench::run_step(const scenarios::Step& step) {
  StepReport report{.scenario = scenario_name(),
                    .step = step.label,
                    .plan = plan_of(options_, step, first_bytes_),
                    .topic_configs = step.topic_configs,
                    .client = options_.client,
                    .linger_ms = options_.linger_ms,
                    .bootstrap = bootstrap(),
                    .spawned = broker_.has_value(),
                    .probe_directory = {}};
  if (step.share_of_first > 0 && options_.rate.empty() && first_bytes_ <= 0) {
    report.skipped = "the step whose share it is reached nothing";
    return report;
  }
  WireClient client(bootstrap());
  try {
    prepare_topic(step, client);
  } catch (const Failure& failure) {
    // A broker without a feature is still asked for the rest.
    report.skipped = failure.what();
    return report;
  }
  measure(step, client, report);
  return report;
}

void Bench::prepare_topic(const scenarios::Step& step, WireClient& client) {
  if (!options_.topic.empty() || (step.same_topic && !fresh_topic_.empty())) return;
  drop_topic();
  const std::string name = fmt::format("weir-bench-{}-{}", scenario_name(), random_text());
  create_bench_topic(client, {.name = name,
                              .partitions = step.partitions,
                              .configs = step.topic_configs});
  fresh_topic_ = name;
}

void Bench::drop_topic() {
  if (fresh_topic_.empty() || options_.keep_topic) return;
  WireClient client(bootstrap());
  delete_bench_topic(client, fresh_topic_);
  fresh_topic_.clear();
}

void Bench::measure(const scenarios::Step& step, WireClient& client, StepReport& report) {
  load::Plan& plan = report.plan;
  const std::string topic = options_.topic.empty() ? fresh_topic_ : options_.topic;
  plan.run_id = static_cast<uint16_t>(std::random_device()());
  plan.target = find_target(client, topic);
  plan.producer.batches.partition_count = plan.target.partition_count();
  // Every leader must be read from.
  plan.consumer.connections =
      std::max(plan.consumer.connections, static_cast<int32_t>(plan.target.brokers.size()));
  if (step.backlog) {
    produce_backlog(plan);
    plan.target = find_target(client, topic);
  }
  probe(report);
  BenchProgress progress({.label = step.label,
                          .warmup_ms = plan.warmup_ms,
                          .duration_ms = plan.duration_ms,
                          .broker = broker_pid(),
                          .draw = !options_.no_progress});
  auto results = run_client(plan, progress);
  if (!results) fail("{}: {}", step.label, results.error().detail);
  report.results = *std::move(results);
  report.broker_before = progress.broker_before;
  report.broker_after = progress.broker_after;
}

base::Result<load::Results> Bench::run_client(const load::Plan& plan,
                                              BenchProgress& progress) const {
  if (!uses_librdkafka(options_)) return load::run_load(plan, progress);
  return load::run_rdkafka(plan,
                           {.bootstrap = bootstrap(),
                            .linger_ms = options_.linger_ms,
                            .group_prefix = plan.target.topic,
                            .settings = settings_of("--client-config", options_.client_settings)},
                           progress);
}

// As fast as it goes; ends when enough is acknowledged.
void Bench::produce_backlog(const load::Plan& plan) {
  const auto size = load::parse_size(options_.backlog);
  if (!size || *size == 0) fail_usage("--backlog wants a size, not '{}'", options_.backlog);
  load::Plan filling = plan;
  filling.producer.bytes_per_second = filling.producer.records_per_second = 0;
  filling.consumer.readers = 0;
  ++filling.run_id;  // its order is its own
  filling.warmup_ms = 0;
  filling.duration_ms = load::kDurationMax_ms;
  BenchProgress progress({.label = "backlog",
                          .duration_ms = filling.duration_ms,
                          .draw = !options_.no_progress,
                          .stop_at_bytes = *size});
  const auto results = load::run_load(filling, progress);
  if (!results) fail("backlog: {}", results.error().detail);
  if (!results->failure.empty()) fail("backlog: {}", results->failure);
}

void Bench::probe(StepReport& report) {
  std::string directory = options_.probe_dir;
  if (directory.empty() && broker_) directory = broker_->data();
  if (options_.no_probe || directory.empty() || report.plan.producer.connections == 0) return;
  report.probe_directory = directory;
  const auto batches = load::BatchFactory::make(report.plan.producer.batches);
  if (!batches) fail_usage("{}", batches.error().detail);
  const size_t size = load::probe_write_size(batches->size_max());
  std::vector<size_t> sizes = {size};
  if (size != kProbeLarge) sizes.push_back(kProbeLarge);
  for (const size_t write_size : sizes) {
    auto result = load::probe_device(directory, write_size, kProbe_ms);
    if (!result) fail("device probe: {}", result.error().detail);
    report.probes.push_back(*std::move(result));
  }
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench", "Load on a Kafka-speaking broker: throughput, latency, cost, verified reads");
  add_bench_options(*command, *options);
  command->footer(
      "Exit code: 0; 1 when a request failed or what was read is not what was acknowledged; 2\n"
      "wrong usage. A step that the broker has no feature for is skipped and named.");
  command->callback([options, &exit_code] {
    if (options->list) return list_scenarios();
    const auto* scenario = scenarios::find_scenario(options->scenario);
    if (scenario != nullptr && scenario->procedure != scenarios::Procedure::load) {
      exit_code = run_procedure(*options, *scenario);
      return;
    }
    exit_code = Bench(*options).run();
  });
}

}  // namespace weir::tools
