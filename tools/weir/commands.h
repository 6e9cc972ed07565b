#pragma once
// The commands of the program. Each adds its subcommand with options to the application; when it
// was
// chosen, its callback runs during parsing. A command that fails throws Failure (failure.h).

#include <string>

namespace CLI {
class App;
}

namespace weir::tools {

void add_serve(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_topic(CLI::App& app);
void add_group(CLI::App& app);
void add_dump(CLI::App& app, int& exit_code);
void add_repair(CLI::App& app);
void add_import(CLI::App& app);

// The option --bootstrap of every command that talks to a broker.
void add_bootstrap(CLI::App& command, std::string& bootstrap);

}  // namespace weir::tools
