#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "engine/weir.h"
#include "tools/weir/commands.h"

namespace weir::tools {
namespace {

struct Options {
  std::string data;
  std::string listen;
  std::string http;
  std::string io;
  std::string cores;
  std::vector<std::string> settings;  // name=value
};

int run(const Options& options) {
  broker::Config config;
  const auto set = [&](std::string_view name, const std::string& value) {
    const auto status = config.set(name, value);
    if (!status) fmt::print(stderr, "weir serve: {}\n", status.error().detail);
    return status.has_value();
  };
  if (!options.data.empty() && !set("log.dirs", options.data)) return 2;
  if (!options.listen.empty() && !set("listeners", options.listen)) return 2;
  if (!options.http.empty() && !set("http.listener", options.http == "off" ? "" : options.http)) {
    return 2;
  }
  if (!options.io.empty() && !set("io.backend", options.io)) return 2;
  if (!options.cores.empty() && !set("num.cores", options.cores)) return 2;
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      fmt::print(stderr, "weir serve: --set wants name=value, not '{}'\n", setting);
      return 2;
    }
    if (!set(setting.substr(0, equals), setting.substr(equals + 1))) return 2;
  }
  if (const auto status = config.finish(); !status) {
    fmt::print(stderr, "weir serve: {}\n", status.error().detail);
    return 2;
  }
  return serve(config);
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "Run the broker; no option is needed");
  command->add_option("--data", options->data, "Data directory (./weir-data)");
  command->add_option("--listen", options->listen, "Address for clients (127.0.0.1:9092)");
  command->add_option("--http", options->http,
                      "Address of /metrics, /healthz and /readyz (127.0.0.1:9644), or off");
  command->add_option("--cores", options->cores, "Processor cores to use (all)");
  command->add_option("--io", options->io, "auto, uring or posix");
  command->add_option("--set", options->settings, "A setting as name=value; may be repeated");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weir::tools
