#include "bench/scenarios/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace weir::scenarios {
namespace {

using load::KeyDistribution;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr double kMB = 1e6;
// Kafka's default of batch.size.
constexpr size_t kClientBatch = 16 * kKiB;
// Requests that Kafka's clients have in flight on a connection.
constexpr int32_t kClientWindow = 5;

Step with_share(Step step, double share) {
  step.label = fmt::format("{:.0f} % of maximum", share * 100);
  step.share_of_first = share;
  return step;
}

Step with_bytes(Step step, double mb_per_second) {
  step.label = fmt::format("{:.0f} MB/s", mb_per_second);
  step.producer.bytes_per_second = mb_per_second * kMB;
  return step;
}

std::vector<Step> big_producers() {
  Step step{.label = "maximum", .partitions = 16};
  step.producer = {.connections = 4, .window = kClientWindow};
  step.producer.batches = {.value_size = kKiB, .batch_size_max = kMiB};
  std::vector<Step> steps = {step};
  for (const double share : {0.5, 0.7, 0.9}) steps.push_back(with_share(step, share));
  for (const double rate : {100, 250, 500, 1000}) steps.push_back(with_bytes(step, rate));
  return steps;
}

std::vector<Step> many_small_producers() {
  std::vector<Step> steps;
  for (const double rate : {50'000, 200'000}) {
    Step step{.label = fmt::format("{:.0f} records/s", rate), .partitions = 64};
    step.producer = {.connections = 500, .window = kClientWindow, .records_per_second = rate};
    step.producer.batches = {.value_size = 100,
                             .record_count = 1,
                             .keys = KeyDistribution::uniform,
                             .key_count = 10'000};
    steps.push_back(step);
  }
  return steps;
}

std::vector<Step> many_partitions() {
  std::vector<Step> steps;
  for (const int32_t partitions : {1, 100, 1'000, 5'000}) {
    Step step{.label = "", .partitions = partitions};
    step.producer = {.connections = 4, .window = kClientWindow};
    step.producer.batches = {.value_size = kKiB, .batch_size_max = kClientBatch};
    steps.push_back(with_bytes(step, 50));
    steps.back().label = fmt::format("{} partitions, 50 MB/s", partitions);
    step.label = fmt::format("{} partitions, maximum", partitions);
    steps.push_back(step);
  }
  return steps;
}

std::vector<Step> tail_read() {
  Step step{.label = "maximum", .partitions = 16};
  step.producer = {.connections = 4, .window = kClientWindow};
  step.producer.batches = {.value_size = kKiB, .batch_size_max = kClientBatch};
  step.consumer = {.readers = 1, .connections = 4};
  std::vector<Step> steps = {step};
  for (const double share : {0.2, 0.5, 0.8}) {
    steps.push_back(with_share(step, share));
    steps.back().label = "4 and 4, " + steps.back().label;
    // One of each: at a quarter of the rate, so that one connection carries it.
    Step one = with_share(step, share / 4);
    one.label = fmt::format("1 and 1, {:.0f} % of a quarter", share * 100);
    one.partitions = 1;
    one.producer.connections = 1;
    one.consumer.connections = 1;
    steps.push_back(one);
  }
  return steps;
}

std::vector<Step> catch_up() {
  Step step{.label = "", .partitions = 16};
  step.producer = {.connections = 4, .window = kClientWindow};
  step.producer.batches = {.value_size = kKiB, .batch_size_max = 64 * kKiB};
  step = with_bytes(step, 100);
  step.label = "producing alone";
  Step reading = step;
  reading.label = "catching up";
  reading.backlog = true;
  reading.consumer = {.readers = 1, .connections = 4, .from_start = true};
  return {step, reading};
}

std::vector<Step> fsync_per_ack() {
  std::vector<Step> steps;
  for (const size_t size : {size_t{100}, kKiB}) {
    for (const int32_t producers : {1, 8, 64}) {
      Step step{.label = fmt::format("{} × {} B", producers, size), .partitions = producers};
      step.producer = {.connections = producers, .window = 1};
      step.producer.batches = {.value_size = size, .record_count = 1};
      steps.push_back(step);
    }
  }
  return steps;
}

std::vector<Step> size_sweep() {
  using log::Compression;
  std::vector<Step> steps;
  const std::pair<Compression, const char*> codecs[] = {
      {Compression::none, "none"}, {Compression::lz4, "lz4"}, {Compression::zstd, "zstd"}};
  for (const auto& [codec, name] : codecs) {
    // The last one fits into a batch of 1 MiB with its headers.
    for (const size_t size : {size_t{10}, size_t{100}, kKiB, 10 * kKiB, 100 * kKiB,
                              kMiB - kKiB}) {
      Step step{.label = fmt::format("{} B, {}", size, name), .partitions = 16};
      step.producer = {.connections = 4, .window = kClientWindow};
      step.producer.batches = {.value_size = size, .batch_size_max = 64 * kKiB};
      step.producer.batches.compression.compression = codec;
      if (codec == Compression::zstd) step.producer.batches.compression.level = 3;
      steps.push_back(step);
    }
  }
  return steps;
}

std::vector<Step> compacted() {
  Step step{.label = "50,000 records/s",
            .partitions = 8,
            .topic_configs = {{"cleanup.policy", "compact"},
                              {"min.cleanable.dirty.ratio", "0.1"},
                              {"segment.bytes", "16777216"}}};
  step.producer = {.connections = 8, .window = kClientWindow, .records_per_second = 50'000};
  step.producer.batches = {.value_size = 256,
                           .record_count = 50,
                           .keys = KeyDistribution::zipf,
                           .key_count = 1'000'000,
                           .tombstone_share = 0.01};
  step.consumer = {.readers = 1, .connections = 1, .gaps_allowed = true};
  return {step};
}

std::vector<Step> fan_out() {
  std::vector<Step> steps;
  for (const int32_t readers : {1, 2, 4, 8, 16}) {
    Step step{.label = "", .partitions = 16};
    step.producer = {.connections = 4, .window = kClientWindow};
    step.producer.batches = {.value_size = kKiB, .batch_size_max = kClientBatch};
    step.consumer = {.readers = readers, .connections = 1};
    steps.push_back(with_bytes(step, 50));
    steps.back().label = fmt::format("{} readers", readers);
  }
  return steps;
}

std::vector<Step> crash_recovery() {
  std::vector<Step> steps;
  for (const int32_t partitions : {1, 1'000}) {
    for (const bool clean : {false, true}) {
      Step step{.label = fmt::format("{} partition{}, {}", partitions, partitions == 1 ? "" : "s",
                                     clean ? "stopped" : "killed"),
                .partitions = partitions,
                .clean_stop = clean};
      step.producer = {.connections = 4, .window = kClientWindow, .bytes_per_second = 100 * kMB};
      step.producer.batches = {.value_size = kKiB, .batch_size_max = 64 * kKiB};
      steps.push_back(step);
    }
  }
  return steps;
}

std::vector<Step> footprint() {
  Step idle{.label = "idle", .partitions = 1};
  Step waiting{.label = "100 waiting readers", .partitions = 100};
  waiting.consumer = {.readers = 1, .connections = 100};
  return {idle, waiting};
}

std::vector<Step> long_soak() {
  Step step{.label = "maximum",
            .partitions = 16,
            .topic_configs = {{"retention.bytes", "67108864"}, {"segment.bytes", "16777216"}}};
  step.producer = {.connections = 50, .window = kClientWindow};
  step.producer.batches = {.value_size = kKiB,
                           .batch_size_max = kClientBatch,
                           .keys = KeyDistribution::uniform,
                           .key_count = 100'000};
  Step soak = with_share(step, 0.6);
  soak.consumer = {.readers = 1, .connections = 4};
  return {step, soak};
}

std::vector<Step> clickstream() {
  std::vector<Step> steps;
  for (const double rate : {8'000, 24'000}) {
    Step step{.label = fmt::format("{:.0f} clicks/s, 3 readers", rate), .partitions = 12};
    step.producer = {.connections = 12, .window = kClientWindow, .records_per_second = rate,
                     .arrivals = load::Schedule::Arrivals::poisson};
    step.producer.batches = {.value_size = 300,
                             .record_count = 10,
                             .keys = KeyDistribution::zipf,
                             .key_count = 100'000};
    step.consumer = {.readers = 3, .connections = 1};
    steps.push_back(step);
  }
  Step replay{.label = "replay of the day", .partitions = 12, .same_topic = true};
  replay.producer = steps[0].producer;
  replay.consumer = {.readers = 1, .connections = 4, .from_start = true};
  steps.push_back(replay);
  return steps;
}

bool same_text(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

const std::vector<Scenario>& all_scenarios() {
  static const std::vector<Scenario> all = {
      {"W1", "big-producers", "throughput of 1 MiB batches, then latency at rates below it",
       big_producers()},
      {"W2", "many-small-producers", "500 connections, one keyed record of 100 B a request",
       many_small_producers()},
      {"W3", "many-partitions", "1 to 5,000 partitions, at 50 MB/s and at most",
       many_partitions()},
      {"W4", "tail-read", "end-to-end latency at shares of the maximum", tail_read()},
      {"W5", "catch-up-while-producing", "reads a backlog while 100 MB/s are produced",
       catch_up()},
      {"W6", "fsync-per-ack", "1, 8 and 64 producers with one record in flight (closed loop)",
       fsync_per_ack()},
      {"W7", "size-sweep", "records of 10 B to 1 MiB, with and without codec", size_sweep()},
      {"W8", "compacted", "a million keys on a compacted topic", compacted()},
      {"W9", "fan-out", "50 MB/s to 1 to 16 readers", fan_out()},
      {"W10", "crash-recovery", "killed under 100 MB/s: time to first ack, acknowledged and lost",
       crash_recovery(), Procedure::crash_recovery},
      {"W11", "footprint", "fifty starts to the first ack; memory and CPU of an idle broker",
       footprint(), Procedure::footprint},
      {"W12", "long-soak", "60 % of the maximum under retention; use a long --duration",
       long_soak()},
      {"S1", "clickstream", "clicks at 8,000 and 24,000 a second, three readers, then a replay",
       clickstream()},
  };
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  const auto found = std::ranges::find_if(all_scenarios(), [&](const Scenario& scenario) {
    return same_text(scenario.name, name) || same_text(scenario.title, name);
  });
  return found == all_scenarios().end() ? nullptr : &*found;
}

Step default_step() {
  Step step{.label = "maximum", .partitions = 16};
  step.producer = {.connections = 4, .window = 4};
  step.producer.batches = {.value_size = kKiB, .batch_size_max = 64 * kKiB};
  return step;
}

}  // namespace weir::scenarios
