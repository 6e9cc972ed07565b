#include "io/base/assert.h"

#include <unistd.h>

namespace weir::base {

void assertion_failed(const char* file, int line, const char* expression,
                      std::string_view detail) {
  char text[1024];
  const auto end = fmt::format_to_n(text, sizeof text, "{}:{}: assertion failed: {}{}{}\n", file,
                                    line, expression, detail.empty() ? "" : ": ", detail);
  const size_t size = end.size < sizeof text ? end.size : sizeof text;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, size);
  __builtin_trap();
}

}  // namespace weir::base
