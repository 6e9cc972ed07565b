#pragma once
// The options of commands that run a broker in this program: serve, run, bench.

#include <string>
#include <vector>

#include "engine/broker/config.h"

namespace CLI {
class App;
}

namespace weir::tools {

// Empty: not given, so the configuration file or the setting's default counts.
struct BrokerOptions {
  std::string config;  // path of a TOML file
  std::string data;
  std::string listen;
  std::string http;    // an address, or "off"
  std::string io;      // "auto", "uring", "posix"
  std::string cores;
  std::vector<std::string> settings{};  // name=value
};

// --cores, --io, --set: what every such command has.
void add_common_broker_options(CLI::App& command, BrokerOptions& options);

// The finished configuration. The command line comes first: what it says is not asked of the file
// any more. Throws Failure for what is wrong.
broker::Config configure(const BrokerOptions& options);

// Every setting that can be set, with its default, for --help.
std::string describe_settings();

}  // namespace weir::tools
