#pragma once
// Failure: why a command cannot go on, with the remedy where there is one. Thrown by the pieces of
// a
// command, printed once by main(). Exceptions are used in tools only (io and engine have none).

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace weir::tools {

// Exit codes of every command.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
// Plus the number of the signal, as shells say it.
inline constexpr int kExitInterrupted = 128;

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, int exit_code = kExitFailed)
      : std::runtime_error(text), exit_code_(exit_code) {}
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...), kExitUsage);
}

}  // namespace weir::tools
