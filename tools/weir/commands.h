#pragma once
// The commands of the program. Each adds its subcommand with options to the application; when it was chosen, its
// callback runs during parsing and leaves the exit code.

namespace CLI {
class App;
}

namespace weir::tools {

void add_serve(CLI::App& app, int& exit_code);

}  // namespace weir::tools
