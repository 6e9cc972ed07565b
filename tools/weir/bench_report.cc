#include "tools/weir/bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/load/quantity.h"
#include "engine/model/error_code.h"
#include "tools/weir/when.h"

namespace weir::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Percentile {
  const char* name;
  double share;
};

constexpr Percentile kPercentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};

// A generator that starts later than this share of the median cannot say what the broker did.
constexpr double kStartDelayShareMax = 0.1;
// An open loop is behind its schedule below this share of it.
constexpr double kRateShareMin = 0.99;

double per_second(uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::vector<std::string> latency_cells(const load::Histogram& histogram) {
  std::vector<std::string> cells;
  for (const Percentile& percentile : kPercentiles) {
    cells.push_back(histogram.count() == 0
                        ? "-"
                        : load::print_latency(histogram.percentile(percentile.share)));
  }
  cells.push_back(histogram.count() == 0 ? "-" : load::print_latency(histogram.max()));
  return cells;
}

Json latency_json(const load::Histogram& histogram) {
  Json json = {{"count", histogram.count()}, {"mean_ns", histogram.mean()}};
  for (const Percentile& percentile : kPercentiles) {
    json[std::string(percentile.name) + "_ns"] = histogram.percentile(percentile.share);
  }
  json["max_ns"] = histogram.max();
  json["histogram"] = histogram.to_text();
  return json;
}

Json flow_json(const load::Flow& flow, double seconds) {
  return {{"mb_per_s", per_second(flow.bytes, seconds) / 1e6},
          {"records_per_s", per_second(flow.records, seconds)},
          {"batches_per_s", per_second(flow.batches, seconds)},
          {"bytes", flow.bytes},
          {"records", flow.records},
          {"batches", flow.batches}};
}

const char* codec_name(log::Compression codec) {
  switch (codec) {
    case log::Compression::none: return "none";
    case log::Compression::gzip: return "gzip";
    case log::Compression::snappy: return "snappy";
    case log::Compression::lz4: return "lz4";
    case log::Compression::zstd: return "zstd";
  }
  return "unknown";
}

const char* keys_name(load::KeyDistribution keys) {
  switch (keys) {
    case load::KeyDistribution::none: return "none";
    case load::KeyDistribution::uniform: return "uniform";
    case load::KeyDistribution::zipf: return "zipf";
  }
  return "unknown";
}

Json parameters_json(const StepReport& report) {
  const load::ProducerPlan& producer = report.plan.producer;
  const load::ConsumerPlan& consumer = report.plan.consumer;
  Json json = {{"client", report.client},
               {"partitions", report.plan.target.partition_count()},
               {"threads", report.plan.threads},
               {"warmup_ms", report.plan.warmup_ms},
               {"duration_ms", report.plan.duration_ms}};
  json["producers"] = producer.connections;
  if (producer.connections > 0) {
    const load::BatchSpec& batches = producer.batches;
    json["loop"] = producer.open_loop() ? "open" : "closed";
    json["arrivals"] =
        producer.arrivals == load::Schedule::Arrivals::even ? "even" : "poisson";
    json["rate_bytes_per_s"] = producer.bytes_per_second;
    json["rate_records_per_s"] = producer.records_per_second;
    if (report.client == "librdkafka") json["linger_ms"] = report.linger_ms;
    json["window"] = producer.window;
    json["acks"] = producer.acks;
    json["record_size"] = batches.value_size;
    json["batch_size_max"] = batches.batch_size_max;
    json["records_per_batch"] = batches.record_count;
    json["keys"] = keys_name(batches.keys);
    if (batches.keys != load::KeyDistribution::none) json["key_count"] = batches.key_count;
    if (batches.keys == load::KeyDistribution::zipf) json["zipf"] = batches.zipf_exponent;
    json["tombstone_share"] = batches.tombstone_share;
    json["random_share"] = batches.random_share;
    json["codec"] = codec_name(batches.compression.compression);
  }
  json["readers"] = consumer.readers;
  if (consumer.readers > 0) {
    json["reader_connections"] = consumer.connections;
    json["from_start"] = consumer.from_start;
    json["read_again"] = consumer.again_at_end;
    json["fetch_bytes_max"] = consumer.fetch_bytes_max;
  }
  for (const auto& [name, value] : report.topic_configs) json["topic_configs"][name] = value;
  return json;
}

Json broker_json(const StepReport& report) {
  Json json = {{"bootstrap", report.bootstrap}, {"spawned", report.spawned}};
  if (!report.broker_before || !report.broker_after) return json;
  const load::ProcessStats& before = *report.broker_before;
  const load::ProcessStats& after = *report.broker_after;
  json["cpu_s"] = after.cpu_s - before.cpu_s;
  if (const auto cost = report.cpu_s_per_gb()) json["cpu_s_per_gb"] = *cost;
  json["memory_bytes"] = after.memory_bytes;
  json["memory_peak_bytes"] = after.memory_peak_bytes;
  if (after.written_known) json["written_bytes"] = after.written_bytes - before.written_bytes;
  if (const auto share = report.written_per_acked()) json["written_per_acked"] = *share;
  return json;
}

Json machine_json() {
  const load::MachineFacts facts = load::machine_facts();
  return {{"kernel", facts.kernel},
          {"processor", facts.processor},
          {"cores", facts.cores},
          {"memory_bytes", facts.memory_bytes}};
}

std::string error_name(int16_t code) {
  return std::string(model::name(static_cast<model::ErrorCode>(code)));
}

Json results_json(const StepReport& report) {
  const load::Results& results = report.results;
  Json json = {{"seconds", results.seconds}, {"generator_cpu_s", results.generator_cpu_s}};
  if (report.plan.producer.connections > 0) {
    json["acked"] = flow_json(results.acked, results.seconds);
    json["ack"] = latency_json(results.ack);
    json["unanswered"] = results.unanswered;
    if (report.plan.producer.open_loop()) {
      json["intended_batches"] = results.intended;
      json["start_delay"] = latency_json(results.start_delay);
    }
  }
  json["errors"] = Json::object();
  for (const auto& [code, count] : results.errors) json["errors"][error_name(code)] = count;
  if (report.plan.consumer.readers > 0) {
    const load::Verification& found = results.verification;
    json["read"] = flow_json(results.read, results.seconds);
    if (results.catch_up_s > 0) {
      json["catch_up"] = {{"seconds", results.catch_up_s},
                          {"bytes", results.catch_up_bytes},
                          {"mb_per_s", static_cast<double>(results.catch_up_bytes) / 1e6 /
                                           results.catch_up_s}};
    }
    json["end_to_end"] = latency_json(results.end_to_end);
    json["end_to_end"]["resolution_ns"] = results.end_to_end_coarse ? 1'000'000 : 1;
    json["verified"] = {{"batches", found.batches},       {"stamps", found.stamps},
                        {"wrong_crc", found.wrong_crc},   {"gaps", found.gaps},
                        {"out_of_order", found.out_of_order}, {"not_read", found.not_read}};
  }
  return json;
}

std::string or_dash(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

}  // namespace

std::optional<double> StepReport::cpu_s_per_gb() const {
  const uint64_t bytes = results.acked.bytes + results.read.bytes;
  if (!broker_before || !broker_after || bytes == 0) return std::nullopt;
  return (broker_after->cpu_s - broker_before->cpu_s) / (static_cast<double>(bytes) / 1e9);
}

std::optional<double> StepReport::written_per_acked() const {
  if (!broker_before || !broker_after || !broker_after->written_known) return std::nullopt;
  if (results.acked.bytes == 0) return std::nullopt;
  return static_cast<double>(broker_after->written_bytes - broker_before->written_bytes) /
         static_cast<double>(results.acked.bytes);
}

std::vector<std::string> StepReport::remarks() const {
  if (!skipped.empty()) return {"skipped: " + skipped};
  std::vector<std::string> all;
  if (!results.failure.empty()) all.push_back("ended early: " + results.failure);
  for (const auto& [code, count] : results.errors) {
    all.push_back(fmt::format("{} requests failed: {}", count, error_name(code)));
  }
  if (results.unanswered > 0) {
    all.push_back(fmt::format("{} batches had no answer {} s after the end: missing in the "
                              "percentiles", results.unanswered, plan.drain_ms_max / 1000));
  }
  if (plan.producer.open_loop() && results.intended > 0) {
    const double share =
        static_cast<double>(results.acked.batches) / static_cast<double>(results.intended);
    if (share < kRateShareMin) {
      all.push_back(fmt::format("behind: {:.0f} % of the intended rate", share * 100));
    }
    const auto delay = static_cast<double>(results.start_delay.percentile(0.5));
    if (share >= kRateShareMin &&
        delay > kStartDelayShareMax * static_cast<double>(results.ack.percentile(0.5))) {
      all.push_back(fmt::format("starts were {} late in the median: part of the latency is the "
                                "generator's or a full window's (--spin, --window, --threads)",
                                load::print_latency(results.start_delay.percentile(0.5))));
    }
  }
  if (results.catch_up_s > 0) {
    all.push_back(fmt::format("readers reached the end after {:.2f} s and {}, {}/s",
                              results.catch_up_s,
                              load::print_bytes(static_cast<double>(results.catch_up_bytes)),
                              load::print_bytes(static_cast<double>(results.catch_up_bytes) /
                                                results.catch_up_s)));
  }
  if (!results.verification.sound()) {
    all.push_back("NOT SOUND: " + results.verification.first_problem);
  }
  if (results.end_to_end_coarse) {
    all.push_back("end to end from timestamps, to 1 ms: these batches carry no stamp");
  }
  if (std::ranges::any_of(probes, [](const auto& probe) { return !probe.direct; })) {
    all.push_back(fmt::format("{} has no O_DIRECT: the ceiling is that of buffered writes",
                              probe_directory));
  }
  return all;
}

bool StepReport::sound() const {
  return results.failure.empty() && results.errors.empty() && results.verification.sound();
}

Json to_json(const StepReport& report) {
  Json json = {{"schema", 1},
               {"program", "weir " WEIR_VERSION},
               {"time", print_time(now_ms())},
               {"scenario", report.scenario},
               {"step", report.step}};
  if (!report.skipped.empty()) {
    json["skipped"] = report.skipped;
    return json;
  }
  json["machine"] = machine_json();
  if (!report.probe_directory.empty()) {
    json["machine"]["file_system"] = load::file_system_of(report.probe_directory);
  }
  json["parameters"] = parameters_json(report);
  json["results"] = results_json(report);
  json["broker"] = broker_json(report);
  json["device"] = Json::array();
  for (const load::ProbeResult& probe : report.probes) {
    json["device"].push_back({{"write_size", probe.write_size},
                              {"mb_per_s", probe.mb_per_second},
                              {"direct", probe.direct},
                              {"p50_ns", probe.latency.percentile(0.5)},
                              {"p99_ns", probe.latency.percentile(0.99)}});
  }
  if (!report.probes.empty() && report.results.seconds > 0) {
    json["share_of_device"] = per_second(report.results.acked.bytes, report.results.seconds) /
                              1e6 / report.probes.front().mb_per_second;
  }
  json["sound"] = report.sound();
  json["remarks"] = report.remarks();
  return json;
}

BenchTables::BenchTables()
    : acked_({"PRODUCED", "LOOP", ">MB/s", ">RECORDS/s", ">P50", ">P90", ">P99", ">P99.9",
              ">P99.99", ">MAX", ">CPU s/GB", ">MEMORY", ">WRITTEN", ">DEVICE"}),
      read_({"READ", ">MB/s", ">RECORDS/s", ">P50", ">P90", ">P99", ">P99.9", ">P99.99", ">MAX",
             ">VERIFIED"}) {}

void BenchTables::add(const StepReport& report) {
  const load::Results& results = report.results;
  for (const std::string& remark : report.remarks()) {
    remarks_.push_back(fmt::format("{}: {}", report.step, remark));
  }
  if (!report.skipped.empty()) return;
  const auto speed = [&](const load::Flow& flow) -> std::vector<std::string> {
    return {fmt::format("{:.1f}", per_second(flow.bytes, results.seconds) / 1e6),
            load::print_count(static_cast<uint64_t>(per_second(flow.records, results.seconds)))};
  };
  const auto append = [](std::vector<std::string>& to, std::vector<std::string> cells) {
    std::ranges::move(cells, std::back_inserter(to));
  };
  if (report.plan.producer.connections > 0) {
    std::vector<std::string> row = {report.step,
                                    report.plan.producer.open_loop() ? "open" : "closed"};
    append(row, speed(results.acked));
    append(row, latency_cells(results.ack));
    row.push_back(or_dash(report.cpu_s_per_gb(), "{:.2f}"));
    row.push_back(report.broker_after ? load::print_bytes(static_cast<double>(
                                            report.broker_after->memory_peak_bytes))
                                      : "-");
    row.push_back(or_dash(report.written_per_acked(), "{:.2f}×"));
    row.push_back(report.probes.empty()
                      ? "-"
                      : fmt::format("{:.0f} %", per_second(results.acked.bytes, results.seconds) /
                                                    1e4 / report.probes[0].mb_per_second));
    acked_.add(std::move(row));
  }
  if (report.plan.consumer.readers > 0) {
    std::vector<std::string> row = {report.step};
    append(row, speed(results.read));
    append(row, latency_cells(results.end_to_end));
    row.push_back(results.verification.sound()
                      ? load::print_count(results.verification.batches) + " batches"
                      : "NOT SOUND");
    read_.add(std::move(row));
  }
}

void BenchTables::print() const {
  if (!acked_.empty()) {
    acked_.print();
    fmt::print("\nLatency: from the intended start to the acknowledgement (open loop), of a full "
               "window (closed loop).\nWRITTEN: to the device for each acknowledged byte. DEVICE: "
               "share of what one durable writer reaches.\n");
  }
  if (!read_.empty()) {
    fmt::print("\n");
    read_.print();
    fmt::print("\nLatency: from the intended start to the fetch that brought the record.\n");
  }
  for (const std::string& remark : remarks_) fmt::print("\n{}", remark);
  if (!remarks_.empty()) fmt::print("\n");
}

}  // namespace weir::tools
