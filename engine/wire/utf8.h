#pragma once
// Validation of UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, up to U+10FFFF.

#include <string_view>

namespace weir::wire {

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace weir::wire
