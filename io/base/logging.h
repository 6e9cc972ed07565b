#pragma once
// One line per event on standard error: time, level, event, key=value pairs. Formatting happens in
// a buffer on the stack; a line is one write, so lines of several cores never mix.
//   log_info("partition", "opened topic={} partition={}", topic, partition);

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace weir::base {

enum class LogLevel : uint8_t { debug, info, warning, error, off };

// Set once at start, before the cores run; lower levels print nothing.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

void log_line(LogLevel level, std::string_view area, fmt::string_view format,
              fmt::format_args args);

template <class... Args>
void log_debug(std::string_view area, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::debug))
    log_line(LogLevel::debug, area, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_info(std::string_view area, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::info))
    log_line(LogLevel::info, area, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_warning(std::string_view area, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::warning))
    log_line(LogLevel::warning, area, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_error(std::string_view area, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::error))
    log_line(LogLevel::error, area, format, fmt::make_format_args(args...));
}

// Lets `burst` events through per interval and counts the rest; owned by the core that logs.
class LogLimiter {
 public:
  explicit LogLimiter(uint32_t burst = 10, int64_t interval_ns = 60'000'000'000)
      : burst_(burst), interval_ns_(interval_ns) {}
  bool allow(int64_t now_ns) {
    if (now_ns - window_start_ns_ >= interval_ns_) {
      window_start_ns_ = now_ns;
      count_ = 0;
    }
    if (count_ < burst_) {
      ++count_;
      return true;
    }
    ++suppressed_;
    return false;
  }
  uint64_t suppressed() const { return suppressed_; }

 private:
  uint32_t burst_;
  uint32_t count_ = 0;
  int64_t interval_ns_;
  int64_t window_start_ns_ = INT64_MIN / 2;
  uint64_t suppressed_ = 0;
};

}  // namespace weir::base
