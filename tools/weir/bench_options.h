#pragma once
// The options of `weir bench`, and how they override the steps of a scenario.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/load/plan.h"
#include "bench/scenarios/scenarios.h"
#include "tools/weir/ephemeral_broker.h"

namespace CLI {
class App;
}

namespace weir::tools {

struct BenchOptions {
  std::string scenario;  // empty: the default step
  bool list = false;
  std::vector<std::string> only;  // parts of step labels

  // The broker: one of our own, unless it is named.
  std::string bootstrap;
  EphemeralBroker::Options broker{};
  int32_t broker_pid = 0;
  std::string probe_dir;
  bool no_probe = false;

  // The topic: a fresh one, unless it is named.
  std::string topic;
  std::vector<std::string> topic_configs;
  bool keep_topic = false;

  // Texts as given; empty: as the scenario says.
  std::string rate;
  std::string record_size;
  std::string batch_size;
  std::string backlog = "1GiB";
  std::string duration = "10s";
  std::string warmup = "2s";
  std::string drain = "10s";
  std::string keys;
  std::string codec;
  std::string acks;
  std::optional<int32_t> partitions;
  std::optional<int32_t> producers;
  std::optional<int32_t> window;
  std::optional<int32_t> records_per_batch;
  std::optional<int64_t> key_count;
  std::optional<double> random_share;
  std::optional<int32_t> readers;
  std::optional<int32_t> reader_connections;
  bool from_start = false;
  bool read_again = false;
  std::string client = "native";
  int32_t linger_ms = 5;
  std::vector<std::string> client_settings;
  bool poisson = false;
  bool spin = false;
  int32_t threads = 1;
  bool json = false;
  bool no_progress = false;
};

void add_bench_options(CLI::App& command, BenchOptions& options);

// The steps to run, options applied; throws Failure for values that make no sense.
std::vector<scenarios::Step> steps_of(const BenchOptions& options);

[[nodiscard]] bool uses_librdkafka(const BenchOptions& options);
// name=value texts of an option; throws Failure with the option's name.
std::vector<std::pair<std::string, std::string>> settings_of(const char* option,
                                                             const std::vector<std::string>& texts);

// The plan of a step, without its target. Checks every limit.
load::Plan plan_of(const BenchOptions& options, const scenarios::Step& step, double first_bytes);

}  // namespace weir::tools
