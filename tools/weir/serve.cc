// weir serve

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/planted.h"
#include "engine/weir.h"
#include "tools/weir/commands.h"
#include "tools/weir/config_file.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

struct Options {
  std::string config;
  std::string data;
  std::string listen;
  std::string http;
  std::string io;
  std::string cores;
  std::vector<std::string> settings;  // name=value
  std::string planted;  // a bug of model/planted.h, in builds that have them
};

void must(const base::Status& status) {
  if (!status) fail_usage("{}", status.error().detail);
}

// The command line comes first: what it says is not asked of the file any more.
broker::Config configure(const Options& options) {
  broker::Config config;
  const auto set = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) must(config.set(name, value));
  };
  set("log.dirs", options.data);
  set("listeners", options.listen);
  set("io.backend", options.io == "auto" ? "" : options.io);
  set("num.cores", options.cores);
  if (options.http == "off") {
    must(config.set("http.listener", ""));
  } else {
    set("http.listener", options.http);
  }
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) fail_usage("--set wants name=value, not '{}'", setting);
    must(config.set(setting.substr(0, equals), setting.substr(equals + 1)));
  }
  if (!options.config.empty()) must(load_config_file(options.config, config));
  must(config.finish());
  return config;
}

#ifdef WEIR_PLANTED_BUGS
void plant(const std::string& name) {
  if (name.empty()) return;
  const auto* const found =
      std::ranges::find(model::kBugs, std::string_view(name), &model::NamedBug::name);
  if (found == std::end(model::kBugs)) fail_usage("there is no planted bug '{}'", name);
  model::planted_bug = found->bug;
}
#endif

// Every setting that can be set, with its default, for --help.
std::string describe_settings() {
  std::string text = "Settings, for --set NAME=VALUE and for --config FILE (TOML):\n";
  for (const model::SettingInfo& info : broker::Config{}.list()) {
    broker::Config probe;
    if (info.default_value && !probe.set(info.name, *info.default_value)) continue;
    text += fmt::format("  {} = {}\n      {}", info.name, info.default_value.value_or("(unset)"),
                        info.spec.doc);
    const std::string allowed = model::allowed_values(info.type, info.spec);
    text += allowed.empty() ? "\n" : fmt::format(" Allowed: {}\n", allowed);
  }
  return text;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "Run the broker; no option is needed");
  command->add_option("--config", options->config, "Settings from a TOML file");
  command->add_option("--data", options->data, "Data directory (./weir-data)");
  command->add_option("--listen", options->listen, "Address for clients (127.0.0.1:9092)");
  command->add_option("--http", options->http,
                      "Address of /metrics, /healthz and /readyz (127.0.0.1:9644), or off");
  command->add_option("--cores", options->cores, "Processor cores to use (all)");
  command->add_option("--io", options->io, "auto, uring or posix");
  command->add_option("--set", options->settings, "A setting as name=value; repeatable")
      ->allow_extra_args(false);
  command->footer(describe_settings);
#ifdef WEIR_PLANTED_BUGS
  command->add_option("--planted", options->planted, "Be wrong on purpose; for tests of the tests");
#endif
  command->callback([options, &exit_code] {
#ifdef WEIR_PLANTED_BUGS
    plant(options->planted);
#endif
    exit_code = serve(configure(*options));
  });
}

}  // namespace weir::tools
