#pragma once
// One run of the program to its end, and what it said.

#include <string>
#include <vector>

namespace weir::crashtest {

struct Outcome {
  int code = -1;       // exit code, or -signal
  std::string text{};  // stdout and stderr
};

// `weir` with these arguments.
Outcome run_weir(std::vector<std::string> arguments);

// A file and its bytes.
std::string read_whole(const std::string& path);
void write_whole(const std::string& path, const std::string& bytes);

}  // namespace weir::crashtest
