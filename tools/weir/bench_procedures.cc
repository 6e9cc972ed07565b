#include "tools/weir/bench_procedures.h"

#include <signal.h>

#include <algorithm>
#include <random>

#include <nlohmann/json.hpp>

#include "bench/load/quantity.h"
#include "bench/load/runner.h"
#include "bench/load/times.h"
#include "engine/wire/messages/produce.h"
#include "tools/weir/bench_progress.h"
#include "tools/weir/bench_target.h"
#include "tools/weir/cluster.h"
#include "tools/weir/failure.h"
#include "tools/weir/table.h"

namespace weir::tools {
namespace {

constexpr const char* kTopic = "weir-bench";
constexpr int32_t kAckTimeout_ms = 30'000;
constexpr int64_t kReadBack_ms = 600'000;  // at most

double ms_since(int64_t start_ns) {
  return static_cast<double>(load::now_ns() - start_ns) / 1e6;
}

EphemeralBroker::Options broker_in(const BenchOptions& options, const std::string& directory) {
  EphemeralBroker::Options broker = options.broker;
  broker.broker.data = directory;
  return broker;
}

// One record of partition 0, acknowledged by all.
void produce_one(WireClient& client) {
  const auto factory = load::BatchFactory::make({.value_size = 100, .record_count = 1});
  wire::ProduceRequest::Partition partition{.index = 0,
                                            .records = wire::Bytes(factory->batch(0, 0).bytes)};
  wire::ProduceRequest::Topic topic{.name = kTopic, .topic_id = {},
                                    .partition_data = {&partition, 1}};
  const wire::ProduceRequest request{.transactional_id = {},
                                     .acks = -1,
                                     .timeout_ms = kAckTimeout_ms,
                                     .topic_data = {&topic, 1}};
  const auto answer = client.call<wire::ProduceResponse>(request, load::kProduceVersionMax);
  for (const auto& answered : answer->responses) {
    for (const auto& result : answered.partition_responses) check(result.error_code, "Produce");
  }
}

// Ends the broker when the measured part is over, and the run with it.
class EndListener final : public load::RunListener {
 public:
  EndListener(pid_t pid, int signal, int64_t at_ms) : pid_(pid), signal_(signal), at_ms_(at_ms) {}
  bool on_progress(int64_t elapsed_ms, const load::Live&) override {
    if (elapsed_ms < at_ms_) return true;
    ::kill(pid_, signal_);
    return false;
  }

 private:
  const pid_t pid_;
  const int signal_;
  const int64_t at_ms_;
};

// Ends the run when so many records have been read or bytes acknowledged, or a request failed.
class CountListener final : public load::RunListener {
 public:
  CountListener(uint64_t records, uint64_t bytes) : records_(records), bytes_(bytes) {}
  bool on_progress(int64_t, const load::Live& live) override {
    read_ += live.read_records;
    acked_ += live.acked_bytes;
    const bool enough = read_ >= records_ || acked_ >= bytes_;
    return !enough && live.errors == 0 && interrupted_by() == 0;
  }

 private:
  const uint64_t records_;
  const uint64_t bytes_;
  uint64_t read_ = 0;
  uint64_t acked_ = 0;
};

load::Results must_run(const load::Plan& plan, load::RunListener& listener) {
  auto results = load::run_load(plan, listener);
  if (!results) fail("{}", results.error().detail);
  return *std::move(results);
}

// Bytes that were acknowledged; `ends` rise to what was.
uint64_t fill(load::Plan plan, uint64_t bytes, std::vector<int64_t>& ends) {
  plan.producer.bytes_per_second = plan.producer.records_per_second = 0;
  plan.warmup_ms = 0;
  plan.duration_ms = load::kDurationMax_ms;
  ++plan.run_id;
  CountListener enough(UINT64_MAX, bytes);
  const load::Results results = must_run(plan, enough);
  if (!results.failure.empty()) fail("backlog: {}", results.failure);
  ends = results.acked_ends;
  return results.acked_total.bytes;
}

load::Results read_all(const load::Target& target) {
  load::Plan plan;
  plan.target = target;
  plan.warmup_ms = 0;
  plan.duration_ms = kReadBack_ms;
  plan.consumer = {.readers = 1, .connections = 4, .from_start = true};
  int64_t records = 0;
  for (size_t p = 0; p < target.end_offsets.size(); ++p) {
    records += target.end_offsets[p] - target.start_offsets[p];
  }
  CountListener all(static_cast<uint64_t>(records), UINT64_MAX);
  return must_run(plan, all);
}

uint64_t count_lost(const std::vector<int64_t>& acked_ends, const std::vector<int64_t>& ends) {
  uint64_t lost = 0;
  for (size_t p = 0; p < acked_ends.size(); ++p) {
    lost += static_cast<uint64_t>(std::max<int64_t>(0, acked_ends[p] - ends[p]));
  }
  return lost;
}

std::string recovery_row(const RecoveryReport& report) {
  return report.lost == 0 ? "0" : load::print_count(report.lost) + " LOST";
}

nlohmann::ordered_json recovery_json(const RecoveryReport& report) {
  const load::Verification& found = report.read_back.verification;
  return {{"schema", 1},
          {"program", "weir " WEIR_VERSION},
          {"scenario", "W10"},
          {"step", report.step},
          {"stored_bytes", report.stored_bytes},
          {"ready_ms", report.ready_ms},
          {"first_ack_ms", report.first_ack_ms},
          {"readable_ms", report.readable_ms},
          {"acked_lost", report.lost},
          {"verified_batches", found.batches},
          {"read_back_s", report.read_back.catch_up_s},
          {"problem", found.first_problem},
          {"sound", report.sound()}};
}

nlohmann::ordered_json footprint_json(const FootprintReport& report) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"program", "weir " WEIR_VERSION},
                                 {"scenario", "W11"},
                                 {"step", report.step},
                                 {"idle_s", report.idle_s},
                                 {"idle_cpu_share", report.idle_cpu_share},
                                 {"memory_bytes", report.idle.memory_bytes},
                                 {"memory_peak_bytes", report.idle.memory_peak_bytes}};
  if (report.first_ack.count() > 0) {
    json["starts"] = report.first_ack.count();
    json["first_ack_p50_ns"] = report.first_ack.percentile(0.5);
    json["first_ack_max_ns"] = report.first_ack.max();
    json["first_ack_histogram"] = report.first_ack.to_text();
  }
  return json;
}

int run_all_recoveries(const BenchOptions& options, const std::vector<scenarios::Step>& steps) {
  Table table({"ENDED", ">STORED", ">READY", ">FIRST ACK", ">ALL READABLE", ">READ BACK",
               ">ACKED LOST", ">VERIFIED"});
  bool sound = true;
  for (const scenarios::Step& step : steps) {
    if (interrupted_by() != 0) break;
    const RecoveryReport report = run_recovery(options, step);
    sound = sound && report.sound();
    if (options.json) {
      fmt::print("{}\n", recovery_json(report).dump());
      std::fflush(stdout);
    }
    const load::Verification& found = report.read_back.verification;
    table.add({report.step, load::print_bytes(static_cast<double>(report.stored_bytes)),
               fmt::format("{:.1f} ms", report.ready_ms),
               fmt::format("{:.1f} ms", report.first_ack_ms),
               fmt::format("{:.1f} ms", report.readable_ms),
               fmt::format("{:.2f} s", report.read_back.catch_up_s), recovery_row(report),
               found.sound() ? load::print_count(found.batches) + " batches"
                             : found.first_problem});
  }
  if (!options.json) table.print();
  return sound ? 0 : kExitFailed;
}

int run_all_footprints(const BenchOptions& options, const std::vector<scenarios::Step>& steps) {
  Table table({"BROKER", ">STARTS", ">FIRST ACK P50", ">MAX", ">MEMORY", ">IDLE CPU"});
  for (const scenarios::Step& step : steps) {
    if (interrupted_by() != 0) break;
    const FootprintReport report = run_footprint(options, step);
    if (options.json) {
      fmt::print("{}\n", footprint_json(report).dump());
      std::fflush(stdout);
    }
    const bool started = report.first_ack.count() > 0;
    table.add({report.step, started ? load::print_count(report.first_ack.count()) : "-",
               started ? load::print_latency(report.first_ack.percentile(0.5)) : "-",
               started ? load::print_latency(report.first_ack.max()) : "-",
               load::print_bytes(static_cast<double>(report.idle.memory_bytes)),
               fmt::format("{:.2f} %", report.idle_cpu_share * 100)});
  }
  if (!options.json) table.print();
  return 0;
}

}  // namespace

bool RecoveryReport::sound() const {
  return lost == 0 && read_back.errors.empty() && read_back.verification.sound();
}

RecoveryReport run_recovery(const BenchOptions& options, const scenarios::Step& step) {
  RecoveryReport report{.step = step.label};
  const auto backlog = load::parse_size(options.backlog);
  if (!backlog) fail_usage("--backlog wants a size, not '{}'", options.backlog);
  const TemporaryDirectory directory;
  std::vector<int64_t> acked_ends;
  {
    EphemeralBroker broker(broker_in(options, directory.path()));
    WireClient client(broker.bootstrap());
    create_bench_topic(client, {.name = kTopic,
                                .partitions = step.partitions,
                                .configs = step.topic_configs});
    load::Plan plan = plan_of(options, step, 0);
    plan.run_id = static_cast<uint16_t>(std::random_device()());
    plan.target = find_target(client, kTopic);
    if (*backlog > 0) report.stored_bytes = fill(plan, *backlog, acked_ends);
    EndListener end(broker.pid(), step.clean_stop ? SIGTERM : SIGKILL,
                    plan.warmup_ms + plan.duration_ms / 2);
    const load::Results results = must_run(plan, end);
    report.stored_bytes += results.acked_total.bytes;
    acked_ends.resize(results.acked_ends.size());
    for (size_t p = 0; p < acked_ends.size(); ++p) {
      acked_ends[p] = std::max(acked_ends[p], results.acked_ends[p]);
    }
    if (step.clean_stop) {
      broker.stop();
    } else {
      broker.kill();
    }
  }
  const int64_t start_ns = load::now_ns();
  EphemeralBroker broker(broker_in(options, directory.path()));
  report.ready_ms = ms_since(start_ns);
  WireClient client(broker.bootstrap());
  produce_one(client);
  report.first_ack_ms = ms_since(start_ns);
  const load::Target target = find_target(client, kTopic);
  report.readable_ms = ms_since(start_ns);
  report.lost = count_lost(acked_ends, target.end_offsets);
  report.read_back = read_all(target);
  return report;
}

FootprintReport run_footprint(const BenchOptions& options, const scenarios::Step& step) {
  FootprintReport report{.step = step.label};
  if (step.consumer.readers == 0) {
    for (int i = 0; i < kFootprintStarts && interrupted_by() == 0; ++i) {
      const int64_t start_ns = load::now_ns();
      const EphemeralBroker broker(options.broker);
      WireClient client(broker.bootstrap());
      create_bench_topic(client, {.name = kTopic});
      produce_one(client);
      report.first_ack.add(load::now_ns() - start_ns);
    }
  }
  const EphemeralBroker broker(options.broker);
  WireClient client(broker.bootstrap());
  create_bench_topic(client, {.name = kTopic, .partitions = step.partitions});
  load::Plan plan;
  plan.target = find_target(client, kTopic);
  plan.consumer = step.consumer;
  plan.warmup_ms = 1'000;  // what follows on a start is over
  plan.duration_ms = load::parse_milliseconds(options.duration).value_or(0);
  if (plan.duration_ms <= 0) fail_usage("--duration wants a time, not '{}'", options.duration);
  BenchProgress progress({.label = step.label,
                          .warmup_ms = plan.warmup_ms,
                          .duration_ms = plan.duration_ms,
                          .broker = broker.pid(),
                          .draw = !options.no_progress});
  report.idle_s = must_run(plan, progress).seconds;
  if (!progress.broker_before || !progress.broker_after) return report;
  report.idle = *progress.broker_after;
  report.idle_cpu_share =
      (progress.broker_after->cpu_s - progress.broker_before->cpu_s) / report.idle_s;
  return report;
}

int run_procedure(const BenchOptions& options, const scenarios::Scenario& scenario) {
  if (!options.bootstrap.empty()) {
    fail_usage("{} starts and ends brokers of its own; leave out --bootstrap", scenario.name);
  }
  if (!options.broker.broker.data.empty()) {
    fail_usage("{} needs fresh directories; leave out --data", scenario.name);
  }
  const std::vector<scenarios::Step> steps = steps_of(options);
  watch_interrupts();
  const int exit_code = scenario.procedure == scenarios::Procedure::crash_recovery
                            ? run_all_recoveries(options, steps)
                            : run_all_footprints(options, steps);
  const int signal = interrupted_by();
  return signal == 0 ? exit_code : kExitInterrupted + signal;
}

}  // namespace weir::tools
