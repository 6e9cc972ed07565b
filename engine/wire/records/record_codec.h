#pragma once
// Coordinator records are messages behind an int16: the record type before a key, the schema
// version before a value. In a key the type is the version too: the two types of OffsetCommitKey
// are its versions 0 and 1.

#include <cstdint>
#include <expected>

#include "engine/wire/codec.h"
#include "engine/wire/schema.h"
#include "io/base/bytes.h"

namespace weir::wire {

// The record type of a key or the version of a value; nothing if it is shorter than that.
[[nodiscard]] inline std::expected<int16_t, DecodeError> record_prefix(Bytes record) {
  if (record.size() < sizeof(int16_t)) {
    return std::unexpected(DecodeError{DecodeError::Reason::truncated, 0, "record prefix"});
  }
  return base::load_be<int16_t>(record.data());
}

// Reads a key of one of M's types, or a value of one of its versions. Others give
// unknown_record_type or unknown_version: skip such records, a newer broker wrote them. The
// position in errors counts from after the prefix.
template <class M>
[[nodiscard]] std::expected<void, DecodeError> decode_record(M& out, Bytes record,
                                                             base::Arena& arena) {
  const auto prefix = record_prefix(record);
  if (!prefix) return std::unexpected(prefix.error());
  if (M::kInfo.kind == MessageKind::record_key && !M::kInfo.has_version(*prefix)) {
    return std::unexpected(DecodeError{DecodeError::Reason::unknown_record_type, 0, ""});
  }
  return decode(out, record.subspan(sizeof(int16_t)), *prefix, arena);
}

// version: of the value; for a key its record type.
template <class M>
void encode_record(const M& m, int16_t version, ChainWriter& out) {
  static_assert(M::kInfo.kind == MessageKind::record_key ||
                M::kInfo.kind == MessageKind::record_value);
  out.put(version);
  encode(m, version, out);
}

}  // namespace weir::wire
