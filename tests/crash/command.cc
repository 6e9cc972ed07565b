#include "tests/crash/command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace weir::crashtest {

Outcome run_weir(std::vector<std::string> arguments) {
  const char* const program = std::getenv("WEIR_PROGRAM");
  if (program == nullptr) throw std::runtime_error("WEIR_PROGRAM must name the program");
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (pid < 0) throw std::runtime_error("fork failed");
  Outcome outcome;
  char piece[4096];
  for (ssize_t size = 1; size != 0;) {
    size = ::read(ends[0], piece, sizeof piece);
    if (size > 0) outcome.text.append(piece, static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) break;
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_whole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace weir::crashtest
