#pragma once
// Config: the settings of all folders in one struct; filled by name from file and command line,
// fixed once the cores run. Which settings exist is known here only; what they mean, in the folder
// of each.
//
// tools/weir/config_file.* parses the file and calls set() for each key; then finish() once.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/config.h"
#include "engine/connection/config.h"
#include "engine/group/config.h"
#include "engine/handlers/config.h"
#include "engine/journal/config.h"
#include "engine/model/setting.h"
#include "engine/partition/config.h"
#include "engine/transaction/config.h"
#include "io/base/result.h"
#include "io/network.h"

namespace weir::broker {

// Order of the enumerators = order of the choices in describe().
enum class IoBackend : uint8_t { automatic, uring, posix };
enum class LogLevel : uint8_t { debug, info, warning, error };

// What belongs to the process rather than to a folder of the engine.
struct ServerSettings {
  std::string data_dir = "./weir-data";
  int32_t node_id = 1;
  std::string listeners = "127.0.0.1:9092,[::1]:9092";
  std::string advertised_listeners;
  bool insecure_open_listener = false;
  std::string http_listener = "127.0.0.1:9644";
  int32_t cores = 0;
  int64_t io_stuck_ms = 10'000;
  int64_t journal_size_bytes = 256 << 20;
  IoBackend io_backend = IoBackend::automatic;
  LogLevel log_level = LogLevel::info;
  // Other units of topic defaults; the smallest unit that is given wins. Special value: not given.
  int32_t log_retention_hours = 168;
  int32_t log_retention_minutes = -2;
  int32_t log_roll_hours = 168;
  int32_t log_roll_jitter_hours = 0;

  static constexpr void describe(auto& setting, auto& s);
};

struct Config {
  ServerSettings server;
  catalog::Settings catalog;
  group::GroupConfig group;
  transaction::TransactionConfig transaction;
  handlers::Config handlers;
  connection::Config connection;
  journal::Config journal;
  partition::Config partition;
  // Smallest segment whatever the topic says; smaller only in the simulator.
  uint64_t segment_bytes_min = catalog::TopicConfig::kSegmentBytesMin;

  // Sets one setting. The error names setting, value and what is allowed, or the nearest known
  // name; also an error: the same setting twice.
  base::Status set(std::string_view name, std::string_view value);
  // After the last set(): other units to milliseconds, relations between settings.
  base::Status finish();

  // Every setting with its value, sorted by name; for --help, DescribeConfigs and docs/CONFIG.md.
  std::vector<model::SettingInfo> list() const;

  // After finish(): addresses of the listeners; the advertised one, empty host when not configured.
  std::vector<io::Address> listen_addresses() const;
  io::Address advertised_address() const;
  // Empty host: no HTTP.
  io::Address http_address() const;

 private:
  template <class Self, class Visitor>
  static void visit_parts(Self& self, Visitor& visitor);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  base::Status unknown_setting(std::string_view name) const;
  base::Status check_listeners() const;
  void convert_time_units();

  std::set<std::string, std::less<>> given_;
};

// "host:port", "[::1]:port", both also behind "PLAINTEXT://".
base::Result<io::Address> parse_address(std::string_view text);
// Comma-separated, at least one.
base::Result<std::vector<io::Address>> parse_addresses(std::string_view text);
bool is_loopback(std::string_view host);
bool is_wildcard(std::string_view host);

// --- description
// -----------------------------------------------------------------------------------

constexpr void ServerSettings::describe(auto& setting, auto& s) {
  setting("advertised.listeners", s.advertised_listeners,
          {.list = true,
           .null_when_unset = true,
           .doc = "Address that clients are told to connect to; when empty, the one they used."});
  setting("http.listener", s.http_listener,
          {.doc = "Address of /metrics, /healthz and /readyz; empty turns it off."});
  setting("insecure.open.listener", s.insecure_open_listener,
          {.doc = "Allow listeners that other machines can reach although nobody has to log in."});
  setting("io.backend", s.io_backend,
          {.choices = "auto|uring|posix",
           .doc = "How files and sockets are driven; auto takes the ring where it is allowed."});
  setting("journal.size.bytes", s.journal_size_bytes,
          {.min = 16 << 20,
           .max = int64_t{64} << 30,
           .unit = "bytes",
           .doc = "Size to which the journal of each core may grow."});
  setting(
      "listeners", s.listeners,
      {.list = true, .doc = "Addresses the broker accepts clients on; port 0 takes a free port."});
  setting("log.dirs", s.data_dir, {.list = true, .doc = "Directory of all data; one."});
  setting("log.level", s.log_level,
          {.choices = "debug|info|warning|error", .doc = "Least severe events that are printed."});
  setting("log.retention.hours", s.log_retention_hours,
          {.min = -1,
           .max = 2'000'000,
           .unit = "hours",
           .doc = "Default age limit of segments in hours, unless minutes or ms are given."});
  setting("log.retention.minutes", s.log_retention_minutes,
          {.min = -1,
           .max = 2'000'000'000,
           .special = -2,
           .unit = "minutes",
           .null_when_unset = true,
           .doc = "Default age limit of segments in minutes, unless ms is given."});
  setting("log.roll.hours", s.log_roll_hours,
          {.min = 1,
           .max = 2'000'000,
           .unit = "hours",
           .doc = "Default age at which a segment is closed in hours, unless ms is given."});
  setting("log.roll.jitter.hours", s.log_roll_jitter_hours,
          {.min = 0,
           .max = 2'000'000,
           .unit = "hours",
           .doc = "Default of segment.jitter.ms in hours, unless ms is given."});
  setting("node.id", s.node_id,
          {.min = 0, .max = 1'000'000'000, .doc = "Number of this node in the cluster of one."});
  setting("num.cores", s.cores,
          {.min = 0, .max = 256, .doc = "Threads, one per processor core; 0 takes all cores."});
  setting("weir.io.stuck.ms", s.io_stuck_ms,
          {.min = 0,
           .max = 86'400'000,
           .unit = "ms",
           .doc = "A call to the disk that takes longer is said in the log and counted in "
                  "weir_io_stuck; 0: never."});
}

static_assert(model::defaults_in_range<ServerSettings>());

}  // namespace weir::broker
