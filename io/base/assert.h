#pragma once
// Assertions for what our own code promises; on in every build, because stopping beats going on
// wrongly. Never assert what a client, a peer or a disk sent: that is an error value (STYLE 2.5).
//   ASSERT(cond)            always checked
//   ASSERT(cond, fmt, ...)  the same, with values for the person who reads the crash
//   VERIFY(cond)            costly checks: debug builds and the simulator
//   UNREACHABLE(fmt, ...)   a branch that cannot be taken

#include <fmt/format.h>

#include <string_view>

namespace weir::base {

// Prints "file:line: expression: detail" to standard error, then traps.
[[noreturn]] void assertion_failed(const char* file, int line, const char* expression,
                                   std::string_view detail);

inline std::string assertion_detail() { return {}; }
template <class... Args>
std::string assertion_detail(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}

}  // namespace weir::base

#define ASSERT(condition, ...)                                                      \
  do {                                                                              \
    if (!(condition)) [[unlikely]]                                                  \
      ::weir::base::assertion_failed(__FILE__, __LINE__, #condition,                \
                                     ::weir::base::assertion_detail(__VA_ARGS__));  \
  } while (false)

#define UNREACHABLE(...)                                             \
  ::weir::base::assertion_failed(__FILE__, __LINE__, "unreachable", \
                                 ::weir::base::assertion_detail(__VA_ARGS__))

#ifdef WEIR_VERIFY
#define VERIFY(...) ASSERT(__VA_ARGS__)
#else
#define VERIFY(...) \
  do {              \
  } while (false)
#endif
