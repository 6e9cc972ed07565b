#pragma once
// What a step of `weir bench` says at its end: a JSON line, or rows of the tables that are printed
// after the last one.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/load/device_probe.h"
#include "bench/load/plan.h"
#include "bench/load/process_stats.h"
#include "bench/load/results.h"
#include "tools/weir/table.h"

namespace weir::tools {

struct StepReport {
  std::string scenario;  // "W4", or "custom"
  std::string step;
  load::Plan plan;
  load::Results results{};
  std::vector<std::pair<std::string, std::string>> topic_configs{};
  std::string client = "native";  // or "librdkafka"
  int32_t linger_ms = 0;          // of librdkafka
  std::string bootstrap;
  bool spawned = false;
  std::optional<load::ProcessStats> broker_before{};  // at the begin of the measured part
  std::optional<load::ProcessStats> broker_after{};   // at its end
  std::vector<load::ProbeResult> probes{};            // of the batches' size, then of 1 MiB
  std::string probe_directory;
  std::string skipped{};  // why it did not run

  // CPU seconds of the broker for 10^9 bytes produced and read; nothing when that is not known.
  [[nodiscard]] std::optional<double> cpu_s_per_gb() const;
  [[nodiscard]] std::optional<double> written_per_acked() const;
  // What a reader of the figures must know; empty when there is nothing.
  [[nodiscard]] std::vector<std::string> remarks() const;
  // Whether all was answered without error, and what was read was sound.
  [[nodiscard]] bool sound() const;
};

// One line, schema 1; documented in bench/README.md.
nlohmann::ordered_json to_json(const StepReport& report);

class BenchTables {
 public:
  BenchTables();
  void add(const StepReport& report);
  // To standard output: what was acknowledged, what was read, remarks.
  void print() const;

 private:
  Table acked_;
  Table read_;
  std::vector<std::string> remarks_;
};

}  // namespace weir::tools
