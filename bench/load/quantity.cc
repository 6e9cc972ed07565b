#include "bench/load/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace weir::load {
namespace {

// A number of at least zero at the front, taken off.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value,
                                            std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(value) || value < 0 || text.starts_with('-')) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// What a unit of bytes stands for; nothing when it is none.
std::optional<double> bytes_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  const std::string_view letters = "kKMG";
  const size_t letter = letters.find(unit[0]);
  if (letter == std::string_view::npos) return std::nullopt;
  const double power = letter < 2 ? 1 : static_cast<double>(letter);
  unit.remove_prefix(1);
  if (unit == "B") return std::pow(1000, power);
  if (unit.empty() || unit == "iB") return std::pow(1024, power);
  return std::nullopt;
}

std::string three_digits(double value) {
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  constexpr double kSizeMax = 1e15;
  const auto number = take_number(text);
  const auto unit = bytes_of(text);
  if (!number || !unit || *number * *unit > kSizeMax) return std::nullopt;
  return static_cast<uint64_t>(std::llround(*number * *unit));
}

std::optional<Rate> parse_rate(std::string_view text) {
  const auto number = take_number(text);
  if (!number || *number <= 0) return std::nullopt;
  if (text.ends_with("/s")) text.remove_suffix(2);
  if (text.ends_with('B')) {
    const auto unit = bytes_of(text);
    if (!unit) return std::nullopt;
    return Rate{.bytes_per_second = *number * *unit};
  }
  if (text.empty()) return Rate{.records_per_second = *number};
  if (text == "k" || text == "K") return Rate{.records_per_second = *number * 1e3};
  if (text == "M") return Rate{.records_per_second = *number * 1e6};
  return std::nullopt;
}

std::optional<int64_t> parse_milliseconds(std::string_view text) {
  constexpr double kMillisecondsMax = 1e12;
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  double factor = 0;
  if (text == "ms") factor = 1;
  if (text.empty() || text == "s") factor = 1e3;
  if (text == "m" || text == "min") factor = 60e3;
  if (text == "h") factor = 3'600e3;
  if (factor == 0 || *number * factor > kMillisecondsMax) return std::nullopt;
  return std::llround(*number * factor);
}

std::string print_latency(uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (value < 999'500) return three_digits(value / 1e3) + " µs";
  if (value < 999.5e6) return three_digits(value / 1e6) + " ms";
  return three_digits(value / 1e9) + " s";
}

std::string print_bytes(double bytes) {
  if (bytes < 999.5) return fmt::format("{:.0f} B", bytes);
  if (bytes < 999.5e3) return three_digits(bytes / 1e3) + " kB";
  if (bytes < 999.5e6) return three_digits(bytes / 1e6) + " MB";
  return three_digits(bytes / 1e9) + " GB";
}

std::string print_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

}  // namespace weir::load
