#include "engine/wire/decoder.h"

#include <cstring>

namespace weir::wire {

using Reason = DecodeError::Reason;

void Decoder::read_uuid(Uuid& uuid) {
  if (left() < sizeof(uuid.bytes)) {
    fail(Reason::truncated);
    return;
  }
  std::memcpy(uuid.bytes.data(), position_, sizeof(uuid.bytes));
  position_ += sizeof(uuid.bytes);
}

RecordsChain Decoder::read_records_chain(bool nullable) {
  const NullableBytes bytes = read_bytes(nullable);
  if (!bytes.has_value()) return {.pieces = {}, .null = true};
  if (bytes->empty()) return {};
  Bytes* const piece = arena_.allocate_array<Bytes>(1);
  if (piece == nullptr) {
    fail(Reason::arena_full);
    return {};
  }
  std::construct_at(piece, *bytes);
  return {.pieces = {piece, 1}};
}

namespace {

struct NoFields {
  static constexpr void describe(auto&, auto&) {}
};

}  // namespace

void Decoder::skip_tagged_fields() {
  NoFields none;
  read_tagged_fields(none);
}

// Each tagged field takes two bytes at least.
uint32_t Decoder::read_some_tag_count() {
  const uint32_t count = read_unsigned_varint();
  if (count == 0) [[likely]] return 0;
  if (count > left() / 2) {
    fail(Reason::length_exceeds_body);
    return 0;
  }
  if (count > kTaggedFieldCountMax) {
    fail(Reason::length_exceeds_limit);
    return 0;
  }
  return count;
}

// Reads tag and size, and narrows the bytes left to the field's own. False after a fault.
bool Decoder::enter_tagged_field(int64_t& tag, const std::byte*& outer_end) {
  field_ = "tagged fields";
  const int64_t previous = tag;
  tag = static_cast<int64_t>(read_unsigned_varint());
  if (!failed() && tag <= previous) fail(Reason::tags_not_increasing);
  const size_t size = read_unsigned_varint();
  if (size > left()) fail(Reason::length_exceeds_body);
  if (failed()) return false;
  outer_end = end_;
  end_ = position_ + size;
  return true;
}

}  // namespace weir::wire
