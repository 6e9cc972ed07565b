// weir serve

#include <CLI/CLI.hpp>

#include <memory>

#include "engine/weir.h"
#include "tools/weir/broker_options.h"
#include "tools/weir/commands.h"

namespace weir::tools {

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BrokerOptions>();
  CLI::App* command = app.add_subcommand("serve", "Run the broker; no option is needed");
  command->add_option("--config", options->config, "Settings from a TOML file");
  command->add_option("--data", options->data, "Data directory (./weir-data)");
  command->add_option("--listen", options->listen, "Address for clients (127.0.0.1:9092)");
  command->add_option("--http", options->http,
                      "Address of /metrics, /healthz and /readyz (127.0.0.1:9644), or off");
  add_common_broker_options(*command, *options);
  command->footer(describe_settings);
  command->callback([options, &exit_code] { exit_code = serve(configure(*options)); });
}

}  // namespace weir::tools
