// weir serve

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "engine/model/planted.h"
#include "engine/weir.h"
#include "tools/weir/broker_options.h"
#include "tools/weir/commands.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

#ifdef WEIR_PLANTED_BUGS
void add_planted(CLI::App& command) {
  const auto plant = [](const std::string& name) {
    const auto* const found =
        std::ranges::find(model::kBugs, std::string_view(name), &model::NamedBug::name);
    if (found == std::end(model::kBugs)) fail_usage("there is no planted bug '{}'", name);
    model::plant(found->bug);
  };
  command.add_option_function<std::string>("--planted", plant,
                                           "Be wrong on purpose, for tests of the tests");
}
#else
void add_planted(CLI::App&) {}
#endif

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BrokerOptions>();
  CLI::App* command = app.add_subcommand("serve", "Run the broker; no option is needed");
  command->add_option("--config", options->config, "Settings from a TOML file");
  command->add_option("--data", options->data, "Data directory (./weir-data)");
  command->add_option("--listen", options->listen, "Address for clients (127.0.0.1:9092)");
  command->add_option("--http", options->http,
                      "Address of /metrics, /healthz and /readyz (127.0.0.1:9644), or off");
  add_common_broker_options(*command, *options);
  add_planted(*command);
  command->footer(describe_settings);
  command->callback([options, &exit_code] { exit_code = serve(configure(*options)); });
}

}  // namespace weir::tools
