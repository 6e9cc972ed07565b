#include "io/base/logging.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace weir::base {
namespace {

// Written once before the cores start, read by all afterwards.
LogLevel g_level = LogLevel::info;

constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};

}  // namespace

void set_log_level(LogLevel level) { g_level = level; }

bool log_enabled(LogLevel level) { return level >= g_level; }

void log_line(LogLevel level, std::string_view area, fmt::string_view format,
              fmt::format_args args) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  char line[1024];
  char* out = line;
  char* const last = line + sizeof line - 1;
  const auto room = [&] { return static_cast<size_t>(last - out); };
  out = fmt::format_to_n(out, room(), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z {} {}: ",
                         parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                         parts.tm_min, parts.tm_sec, now.tv_nsec / 1'000'000,
                         kNames[static_cast<size_t>(level)], area)
            .out;
  out = fmt::vformat_to_n(out, room(), format, args).out;
  // What a peer sent may be in the text: one event stays one line.
  std::replace_if(line, out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  *out++ = '\n';
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, line, static_cast<size_t>(out - line));
}

}  // namespace weir::base
