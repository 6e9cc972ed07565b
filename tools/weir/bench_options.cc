#include "tools/weir/bench_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "bench/load/quantity.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

uint64_t size_option(const char* name, const std::string& text) {
  const auto size = load::parse_size(text);
  if (!size) fail_usage("{} wants a size like 100, 64KiB or 1MB, not '{}'", name, text);
  return *size;
}

int64_t time_option(const char* name, const std::string& text) {
  const auto time = load::parse_milliseconds(text);
  if (!time || *time > load::kDurationMax_ms) {
    fail_usage("{} wants a time like 500ms, 10s or 2m, at most 7 days, not '{}'", name, text);
  }
  return *time;
}

template <class T>
void check_range(const char* name, T value, T min, T max) {
  if (value >= min && value <= max) return;
  fail_usage("{} is {}, allowed is {} to {}", name, value, min, max);
}

log::CompressionTarget codec_of(const std::string& text) {
  using log::Compression;
  if (text == "none") return {};
  if (text == "gzip") return {.compression = Compression::gzip, .level = 6};
  if (text == "snappy") return {.compression = Compression::snappy};
  if (text == "lz4") return {.compression = Compression::lz4, .level = 1};
  if (text == "zstd") return {.compression = Compression::zstd, .level = 3};
  fail_usage("--codec is none, gzip, snappy, lz4 or zstd, not '{}'", text);
}

// "none", "uniform", "zipf", "zipf:1.2".
void set_keys(const std::string& text, load::BatchSpec& batches) {
  if (text == "none") {
    batches.keys = load::KeyDistribution::none;
    batches.tombstone_share = 0;
    return;
  }
  if (text == "uniform") {
    batches.keys = load::KeyDistribution::uniform;
    return;
  }
  if (!text.starts_with("zipf")) fail_usage("--keys is none, uniform or zipf[:EXPONENT]");
  batches.keys = load::KeyDistribution::zipf;
  if (text.size() == 4) return;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + 5, end, batches.zipf_exponent);
  if (text[4] != ':' || parsed.ec != std::errc{} || parsed.ptr != end) {
    fail_usage("--keys: '{}' is no zipf:EXPONENT", text);
  }
}

int16_t acks_of(const std::string& text) {
  if (text == "all" || text == "-1") return -1;
  if (text == "1") return 1;
  if (text == "0") return 0;
  fail_usage("--acks is all, 1 or 0, not '{}'", text);
}

void override_producer(const BenchOptions& options, load::ProducerPlan& producer) {
  if (options.producers) producer.connections = *options.producers;
  if (options.window) producer.window = *options.window;
  if (!options.acks.empty()) producer.acks = acks_of(options.acks);
  if (options.poisson) producer.arrivals = load::Schedule::Arrivals::poisson;
  if (!options.rate.empty()) {
    producer.bytes_per_second = producer.records_per_second = 0;
    const auto rate = load::parse_rate(options.rate);
    if (!rate && options.rate != "max") {
      fail_usage("--rate wants bytes like 50MB, records like 20000 or 20k a second, or max, "
                 "not '{}'", options.rate);
    }
    if (rate) {
      producer.bytes_per_second = rate->bytes_per_second;
      producer.records_per_second = rate->records_per_second;
    }
  }
  load::BatchSpec& batches = producer.batches;
  if (!options.record_size.empty()) {
    batches.value_size = size_option("--record-size", options.record_size);
  }
  if (!options.batch_size.empty()) {
    batches.batch_size_max = size_option("--batch-size", options.batch_size);
    batches.record_count = 0;
  }
  if (options.records_per_batch) batches.record_count = *options.records_per_batch;
  if (!options.keys.empty()) set_keys(options.keys, batches);
  if (options.key_count) batches.key_count = *options.key_count;
  if (options.random_share) batches.random_share = *options.random_share;
  if (!options.codec.empty()) batches.compression = codec_of(options.codec);
}

void override_consumer(const BenchOptions& options, load::ConsumerPlan& consumer) {
  if (options.readers) consumer.readers = *options.readers;
  if (options.reader_connections) consumer.connections = *options.reader_connections;
  if (options.from_start) consumer.from_start = true;
  if (options.read_again) consumer.from_start = consumer.again_at_end = true;
}

bool is_chosen(const BenchOptions& options, const scenarios::Step& step) {
  return options.only.empty() || std::ranges::any_of(options.only, [&](const std::string& part) {
           return step.label.find(part) != std::string::npos;
         });
}

void add_load_options(CLI::App& command, BenchOptions& options) {
  const char* const group = "Load";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(group);
  };
  add("--rate,-r", options.rate,
      "Open loop: 50MB (bytes), 20000 or 20k (records) a second over all producers; max: closed "
      "loop");
  command.add_flag("--poisson", options.poisson, "Open loop with random gaps")->group(group);
  add("--producers", options.producers, "Producing connections; 0: only read");
  add("--window", options.window, "Requests in flight on each of them");
  add("--acks", options.acks, "all, 1 or 0");
  add("--partitions,-p", options.partitions, "Of a fresh topic");
  add("--record-size", options.record_size, "Bytes of a record's value");
  add("--batch-size", options.batch_size, "Bytes of a record batch, at most");
  add("--records-per-batch", options.records_per_batch, "Instead of --batch-size");
  add("--keys", options.keys, "none, uniform or zipf[:EXPONENT]");
  add("--key-count", options.key_count, "How many different ones");
  add("--codec", options.codec, "none, gzip, snappy, lz4 or zstd; compressed once, beforehand");
  add("--random-share", options.random_share, "Part of a value that no codec shrinks, 0 to 1");
  add("--readers", options.readers, "Readers, each of all partitions; 0: none");
  add("--reader-connections", options.reader_connections, "Connections of each reader");
  command.add_flag("--from-start", options.from_start, "Read from the first record on")
      ->group(group);
  command.add_flag("--read-again", options.read_again,
                   "Read from the first record on, over and over")
      ->group(group);
  add("--backlog", options.backlog, "What W5 produces before it reads")->capture_default_str();
}

void add_run_options(CLI::App& command, BenchOptions& options) {
  const char* const group = "Run";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(group);
  };
  add("--duration,-d", options.duration, "Of the measured part of a step")->capture_default_str();
  add("--warmup", options.warmup, "Before it")->capture_default_str();
  add("--drain", options.drain, "At most, after it, for answers")->capture_default_str();
  add("--threads", options.threads, "Of the generator")->capture_default_str();
  command.add_flag("--spin", options.spin,
                   "Poll for the next start instead of sleeping; takes a processor")
      ->group(group);
  add("--only", options.only, "Only steps whose label contains this; repeatable")
      ->allow_extra_args(false);
  command.add_flag("--json", options.json, "One JSON line a step on standard output")
      ->group(group);
  command.add_flag("--no-progress", options.no_progress, "No progress bar")->group(group);
  command.add_flag("--list", options.list, "The scenarios and their steps")->group(group);
}

void add_client_options(CLI::App& command, BenchOptions& options) {
  const char* const group = "Client";
  command.add_option("--client", options.client,
                     "native: pre-built batches on own connections; librdkafka: record by record, "
                     "readers are consumer groups")
      ->capture_default_str()
      ->group(group);
  command.add_option("--linger-ms", options.linger_ms, "linger.ms of librdkafka")
      ->capture_default_str()
      ->group(group);
  command.add_option("--client-config", options.client_settings,
                     "A setting of librdkafka as name=value; repeatable")
      ->allow_extra_args(false)
      ->group(group);
}

void add_broker_options(CLI::App& command, BenchOptions& options) {
  const char* const group = "Broker";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(group);
  };
  add("--bootstrap,-b", options.bootstrap,
      "Any Kafka-speaking broker; without it one is started for the run in a fresh directory");
  add("--data", options.broker.broker.data, "Directory of the broker started here, kept");
  add("--cores", options.broker.broker.cores, "Its processor cores");
  add("--set", options.broker.broker.settings, "A setting of it as name=value; repeatable")
      ->allow_extra_args(false);
  add("--broker-pid", options.broker_pid,
      "Process of the broker named by --bootstrap, if it is here: its CPU, memory, writes");
  add("--probe-dir", options.probe_dir, "Directory on the broker's disk, to measure the device");
  command.add_flag("--no-probe", options.no_probe, "Do not measure the device")->group(group);
  add("--topic", options.topic, "A topic that is there; else a fresh one, removed afterwards");
  add("--topic-config", options.topic_configs, "Of a fresh topic, name=value; repeatable")
      ->allow_extra_args(false);
  command.add_flag("--keep-topic", options.keep_topic, "Leave fresh topics")->group(group);
}

}  // namespace

void add_bench_options(CLI::App& command, BenchOptions& options) {
  command.add_option("scenario", options.scenario,
                     "W1 … W12, S1 or a title (--list); none: four producers of 64 KiB batches");
  add_load_options(command, options);
  add_run_options(command, options);
  add_client_options(command, options);
  add_broker_options(command, options);
}

bool uses_librdkafka(const BenchOptions& options) {
  if (options.client == "librdkafka") return true;
  if (options.client == "native") return false;
  fail_usage("--client is native or librdkafka, not '{}'", options.client);
}

std::vector<std::pair<std::string, std::string>> settings_of(
    const char* option, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) fail_usage("{} wants name=value, not '{}'", option, text);
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

std::vector<scenarios::Step> steps_of(const BenchOptions& options) {
  std::vector<scenarios::Step> steps = {scenarios::default_step()};
  if (!options.scenario.empty()) {
    const auto* scenario = scenarios::find_scenario(options.scenario);
    if (scenario == nullptr) {
      fail_usage("no scenario is called '{}'; 'weir bench --list' shows them", options.scenario);
    }
    steps = scenario->steps;
  }
  const bool shares = std::ranges::any_of(
      steps, [](const auto& step) { return step.share_of_first > 0; });
  for (size_t i = 0; i < steps.size(); ++i) {
    scenarios::Step& step = steps[i];
    if (options.partitions) step.partitions = *options.partitions;
    override_producer(options, step.producer);
    override_consumer(options, step.consumer);
    const auto configs = settings_of("--topic-config", options.topic_configs);
    step.topic_configs.insert(step.topic_configs.end(), configs.begin(), configs.end());
    if (step.producer.open_loop() && options.scenario.empty()) step.label = options.rate;
  }
  // What others are a share of must run.
  const scenarios::Step first = steps.front();
  std::erase_if(steps, [&](const auto& step) { return !is_chosen(options, step); });
  if (steps.empty()) fail_usage("--only: no step has such a label");
  const bool needs_first = shares && std::ranges::any_of(steps, [](const auto& step) {
                             return step.share_of_first > 0;
                           });
  if (needs_first && steps.front().label != first.label) steps.insert(steps.begin(), first);
  return steps;
}

load::Plan plan_of(const BenchOptions& options, const scenarios::Step& step, double first_bytes) {
  load::Plan plan;
  plan.producer = step.producer;
  plan.consumer = step.consumer;
  plan.producer.batches.partition_count = step.partitions;
  if (step.share_of_first > 0 && options.rate.empty()) {
    plan.producer.bytes_per_second = step.share_of_first * first_bytes;
    plan.producer.records_per_second = 0;
  }
  plan.threads = options.threads;
  plan.spin = options.spin;
  plan.warmup_ms = time_option("--warmup", options.warmup);
  plan.duration_ms = time_option("--duration", options.duration);
  plan.drain_ms_max = time_option("--drain", options.drain);
  check_range<int64_t>("--duration in ms", plan.duration_ms, 1, load::kDurationMax_ms);
  check_range("--partitions", step.partitions, 1, 100'000);
  check_range("--producers", plan.producer.connections, 0, load::kConnectionsMax);
  check_range("--window", plan.producer.window, 1, load::kWindowMax);
  check_range("--readers", plan.consumer.readers, 0, load::kConnectionsMax);
  check_range("--reader-connections", plan.consumer.connections, 1,
              std::max(1, load::kConnectionsMax / std::max(1, plan.consumer.readers)));
  check_range("--linger-ms", options.linger_ms, 0, 900'000);
  if (uses_librdkafka(options)) {
    if (plan.consumer.again_at_end) fail_usage("--read-again needs --client native");
  } else if (!options.client_settings.empty()) {
    fail_usage("--client-config needs --client librdkafka");
  }
  check_range("--threads", plan.threads, 1, load::kThreadsMax);
  if (const auto status = load::BatchFactory::check(plan.producer.batches); !status) {
    fail_usage("{}", status.error().detail);
  }
  if (plan.producer.connections == 0 && plan.consumer.readers == 0) {
    fail_usage("neither producers nor readers: nothing to do");
  }
  return plan;
}

}  // namespace weir::tools
