// The one executable: dispatch to a command.

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "tools/weir/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"Weir: an event-streaming log for one machine, speaking the Kafka protocol"};
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  int exit_code = 0;
  try {
    weir::tools::add_serve(app, exit_code);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return 1;
  }
  return exit_code;
}
