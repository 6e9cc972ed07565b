#include "tools/weir/broker_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <string_view>

#include "tools/weir/config_file.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

void must(const base::Status& status) {
  if (!status) fail_usage("{}", status.error().detail);
}

}  // namespace

void add_common_broker_options(CLI::App& command, BrokerOptions& options) {
  command.add_option("--cores", options.cores, "Processor cores to use (all)");
  command.add_option("--io", options.io, "auto, uring or posix");
  command.add_option("--set", options.settings, "A setting as name=value; repeatable")
      ->allow_extra_args(false);
}

broker::Config configure(const BrokerOptions& options) {
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

}  // namespace weir::tools
