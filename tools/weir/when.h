#pragma once
// Points in time and spans as people write them, and back.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::tools {

int64_t now_ms();

// "2026-11-29", "2026-11-29T18:45", "2026-11-29T18:45:10.250", each with "Z" or "+01:00" behind it;
// without, UTC. Milliseconds since the epoch.
std::optional<int64_t> parse_time(std::string_view text);
// "90s", "15m", "2h", "7d", "250ms", several of them, or ISO 8601 "P1DT2H30M". Milliseconds.
std::optional<int64_t> parse_duration(std::string_view text);

// "2026-11-29T18:45:10.250Z"; "-" for a negative time.
std::string print_time(int64_t time_ms);

}  // namespace weir::tools
