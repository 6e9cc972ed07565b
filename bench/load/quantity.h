#pragma once
// Sizes and rates as people write them, and back.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::load {

// "100", "100B", "64KiB", "1MiB", "1.5MB", "2GiB": bytes, whole; K, M, G without B count 1,024.
std::optional<uint64_t> parse_size(std::string_view text);

struct Rate {
  double bytes_per_second = 0;
  double records_per_second = 0;
};

// "50MB" or "50MB/s": bytes a second. "20000", "20k", "0.5M", also with "/s": records a second.
// Greater than zero.
std::optional<Rate> parse_rate(std::string_view text);

// "500ms", "10s", "2m", "1h"; a number alone means seconds. Milliseconds.
std::optional<int64_t> parse_milliseconds(std::string_view text);

// 3 significant digits: "1.02 ms", "85.3 µs", "12.0 s".
std::string print_latency(uint64_t ns);
// "12.3 MB", "1.20 GB": decimal.
std::string print_bytes(double bytes);
// "1,234,567".
std::string print_count(uint64_t count);

}  // namespace weir::load
