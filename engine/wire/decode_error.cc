#include "engine/wire/decode_error.h"

#include <fmt/format.h>

#include "io/base/assert.h"

namespace weir::wire {

std::string_view name(DecodeError::Reason reason) {
  using enum DecodeError::Reason;
  switch (reason) {
    case none: return "none";
    case truncated: return "truncated";
    case bad_varint: return "bad_varint";
    case negative_length: return "negative_length";
    case unexpected_null: return "unexpected_null";
    case length_exceeds_body: return "length_exceeds_body";
    case length_exceeds_limit: return "length_exceeds_limit";
    case bad_utf8: return "bad_utf8";
    case tags_not_increasing: return "tags_not_increasing";
    case trailing_bytes: return "trailing_bytes";
    case arena_full: return "arena_full";
    case unknown_version: return "unknown_version";
    case unknown_record_type: return "unknown_record_type";
  }
  UNREACHABLE("reason {}", static_cast<int>(reason));
}

std::string to_string(const DecodeError& error) {
  return fmt::format("reason={} field={} position={}", name(error.reason),
                     *error.field == '\0' ? "-" : error.field, error.position);
}

}  // namespace weir::wire
