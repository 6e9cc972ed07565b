#pragma once
// Why bytes from a peer are not a message: enough for one log line before the connection is closed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire {

struct DecodeError {
  enum class Reason : uint8_t {
    none,
    truncated,             // the bytes end inside an integer, uuid or varint
    bad_varint,            // longer than needed, or does not fit its type
    negative_length,       // below -1
    unexpected_null,       // null where the version does not allow it
    length_exceeds_body,   // a length or count that the bytes left cannot hold
    length_exceeds_limit,  // a length or count above a limit of limits.h
    bad_utf8,
    tags_not_increasing,   // a tag repeated or out of order
    trailing_bytes,        // bytes after the last field, of the message or of a tagged field
    arena_full,            // the request's memory budget
    unknown_version,       // asked to decode a version without a description
    unknown_record_type,   // of a coordinator record
  };

  Reason reason = Reason::none;
  size_t position = 0;      // of the byte where reading stopped, from the start of what was given
  const char* field = "";   // being read, named as in Kafka's JSON; static storage
};

[[nodiscard]] std::string_view name(DecodeError::Reason reason);

// "reason=bad_utf8 field=Name position=17", for logs.
[[nodiscard]] std::string to_string(const DecodeError& error);

}  // namespace weir::wire
