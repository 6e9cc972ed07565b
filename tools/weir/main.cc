// The one executable: dispatch to a command.

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "tools/weir/commands.h"
#include "tools/weir/failure.h"

namespace weir::tools {

void add_bootstrap(CLI::App& command, std::string& bootstrap) {
  const char* const named = std::getenv("WEIR_BOOTSTRAP");
  bootstrap = named != nullptr && *named != '\0' ? named : "127.0.0.1:9092";
  command.add_option("--bootstrap,-b", bootstrap,
                     "Broker to ask; WEIR_BOOTSTRAP names another default")
      ->capture_default_str();
}

}  // namespace weir::tools

int main(int argc, char** argv) {
  CLI::App app{"Weir: an event-streaming log for one machine, speaking the Kafka protocol"};
  app.set_version_flag("--version", "weir " WEIR_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  try {
    weir::tools::add_serve(app, exit_code);
    weir::tools::add_run(app, exit_code);
    weir::tools::add_bench(app, exit_code);
    weir::tools::add_topic(app);
    weir::tools::add_group(app);
    weir::tools::add_dump(app, exit_code);
    weir::tools::add_repair(app);
    weir::tools::add_import(app);
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // An unknown option in front of the command: say that, not that the command is missing.
    if (argc > 1) std::fprintf(stderr, "weir: no command is called %s\n", argv[1]);
    return app.exit(error) == 0 ? 0 : weir::tools::kExitUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : weir::tools::kExitUsage;
  } catch (const weir::tools::Failure& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return weir::tools::kExitFailed;
  }
  return exit_code;
}
