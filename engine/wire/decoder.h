#pragma once
// Visitor that turns bytes into a message. Use decode() of codec.h; this header is for the codec
// sources.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <type_traits>

#include "engine/wire/decode_error.h"
#include "engine/wire/limits.h"
#include "engine/wire/schema.h"
#include "engine/wire/utf8.h"
#include "io/base/arena.h"
#include "io/base/bytes.h"
#include "io/base/varint.h"

namespace weir::wire {

// Reads one message of one version. Nothing is copied but integers: strings and bytes view the
// body, arrays live in the arena. Every length is held against the bytes left before anything is
// allocated or looped over. The first fault ends it: nothing is left to read from then on, so
// fields after it cost one comparison each and the caller looks once, at finish().
class Decoder {
 public:
  Decoder(Bytes body, int16_t version, bool flexible, base::Arena& arena)
      : begin_(body.data()),
        position_(begin_),
        end_(begin_ + body.size()),
        arena_(arena),
        version_(version),
        flexible_(flexible) {}

  template <Described T>
  void read_struct(T& value) {
    T::describe(*this, value);
    if (flexible_) read_tagged_fields(value);
  }

  // The tagged fields of a header, none of which is known. Other structs end in read_struct().
  void skip_tagged_fields();
  [[nodiscard]] size_t position() const { return static_cast<size_t>(position_ - begin_); }

  // What went wrong so far.
  [[nodiscard]] std::expected<void, DecodeError> status() const {
    if (failed()) return std::unexpected(error_);
    return {};
  }
  // What went wrong, or nothing if the body is used up to its last byte.
  [[nodiscard]] std::expected<void, DecodeError> finish() {
    if (!failed() && position_ != end_) fail(DecodeError::Reason::trailing_bytes);
    return status();
  }

  // One field, called by describe().
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, T& member, const Spec spec = {}) {
    if (spec.is_tagged() || !spec.versions.contains(version_)) return;
    field_ = name.data();
    read(member, spec.nullable.contains(version_));
  }

 private:
  template <class>
  friend struct TaggedFieldReader;

  [[nodiscard]] bool failed() const { return error_.reason != DecodeError::Reason::none; }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - position_); }

  [[gnu::cold, gnu::noinline]] void fail(DecodeError::Reason reason) {
    if (failed()) return;
    error_ = {reason, position(), field_};
    position_ = end_;
  }

  template <class T>
  void read(T& member, [[maybe_unused]] bool nullable) {
    if constexpr (std::is_same_v<T, bool>) {
      member = read_integer<int8_t>() != 0;
    } else if constexpr (std::is_same_v<T, double>) {
      member = std::bit_cast<double>(read_integer<uint64_t>());
    } else if constexpr (schema_detail::kIsScalar<T>) {
      member = read_integer<T>();
    } else if constexpr (std::is_same_v<T, Uuid>) {
      read_uuid(member);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      member = read_string(false).value_or(std::string_view{});
    } else if constexpr (std::is_same_v<T, NullableString>) {
      member = read_string(nullable);
    } else if constexpr (std::is_same_v<T, Bytes>) {
      member = read_bytes(false).value_or(Bytes{});
    } else if constexpr (std::is_same_v<T, NullableBytes>) {
      member = read_bytes(nullable);
    } else if constexpr (std::is_same_v<T, Records>) {
      static_cast<NullableBytes&>(member) = read_bytes(nullable);
    } else if constexpr (std::is_same_v<T, RecordsChain>) {
      member = read_records_chain(nullable);
    } else if constexpr (kIsArray<T>) {
      read_array(member, nullable);
    } else if constexpr (OptionalStruct<T>) {
      read_optional(member, nullable);
    } else {
      read_struct(member);
    }
  }

  template <class T>
  [[nodiscard]] T read_integer() {
    if (left() < sizeof(T)) [[unlikely]] {
      fail(DecodeError::Reason::truncated);
      return 0;
    }
    const T value = base::load_be<T>(position_);
    position_ += sizeof(T);
    return value;
  }

  [[nodiscard]] uint32_t read_unsigned_varint() {
    const auto varint = base::load_unsigned_varint32({position_, end_});
    if (varint.size == 0) [[unlikely]] {
      fail(left() == 0 ? DecodeError::Reason::truncated : DecodeError::Reason::bad_varint);
      return 0;
    }
    position_ += varint.size;
    return varint.value;
  }

  void read_uuid(Uuid& uuid);

  // A length or count of Fixed width, or compact. -1 is null and allowed if nullable; all other
  // results are at most INT32_MAX. After a fault the result is 0.
  template <class Fixed>
  [[nodiscard]] int64_t read_length(bool nullable) {
    int64_t length;
    if (flexible_) {
      length = static_cast<int64_t>(read_unsigned_varint()) - 1;
      if (failed()) [[unlikely]] return 0;
    } else {
      length = read_integer<Fixed>();
    }
    if (length >= 0 && length <= INT32_MAX) [[likely]] return length;
    if (length == -1 && nullable) return length;
    fail(length == -1  ? DecodeError::Reason::unexpected_null
         : length < -1 ? DecodeError::Reason::negative_length
                       : DecodeError::Reason::length_exceeds_limit);
    return 0;
  }

  [[nodiscard]] NullableString read_string(bool nullable) {
    const int64_t length = read_length<int16_t>(nullable);
    if (length < 0) return std::nullopt;
    const auto size = static_cast<size_t>(length);
    if (size > left()) [[unlikely]] {
      fail(DecodeError::Reason::length_exceeds_body);
      return std::nullopt;
    }
    const std::string_view text(reinterpret_cast<const char*>(position_), size);
    if (size > kStringSizeMax || !is_utf8(text)) [[unlikely]] {
      fail(size > kStringSizeMax ? DecodeError::Reason::length_exceeds_limit
                                 : DecodeError::Reason::bad_utf8);
      return std::nullopt;
    }
    position_ += size;
    return text;
  }

  [[nodiscard]] NullableBytes read_bytes(bool nullable) {
    const int64_t length = read_length<int32_t>(nullable);
    if (length < 0) return std::nullopt;
    const auto size = static_cast<size_t>(length);
    if (size > left()) [[unlikely]] {
      fail(DecodeError::Reason::length_exceeds_body);
      return std::nullopt;
    }
    const Bytes bytes(position_, size);
    position_ += size;
    return bytes;
  }

  [[nodiscard]] RecordsChain read_records_chain(bool nullable);

  // As Kafka reads it: a negative byte stands for null, any other for the struct behind it.
  template <class T>
  void read_optional(T& member, bool nullable) {
    if (read_integer<int8_t>() >= 0) return read_struct(member.emplace());
    member.reset();
    if (!nullable) fail(DecodeError::Reason::unexpected_null);
  }

  template <class E>
  void read_array(Array<E>& array, bool nullable) {
    const int64_t length = read_length<int32_t>(nullable);
    if (length <= 0) {
      array = length < 0 ? Array<E>::null() : Array<E>{};
      return;
    }
    const auto count = static_cast<size_t>(length);
    const size_t size_min = kMinSizes<E>[flexible_ ? 1 : 0][static_cast<size_t>(version_)];
    E* const first = allocate_elements<E>(count, size_min);
    if (first == nullptr) return;
    for (size_t i = 0; i < count; ++i) {
      std::construct_at(&first[i]);
      read(first[i], false);
      if (failed()) [[unlikely]] return;
    }
    array = Array<E>(first, count);
  }

  template <class E>
  [[nodiscard]] E* allocate_elements(size_t count, size_t size_min) {
    if (count > left() / size_min) [[unlikely]] {
      fail(DecodeError::Reason::length_exceeds_body);
      return nullptr;
    }
    if (count > kArrayCountMax) [[unlikely]] {
      fail(DecodeError::Reason::length_exceeds_limit);
      return nullptr;
    }
    E* const first = arena_.allocate_array<E>(count);
    if (first == nullptr) [[unlikely]] fail(DecodeError::Reason::arena_full);
    return first;
  }

  // The end of every struct of a flexible version: known tags are read in a second pass of its
  // describe(), unknown ones skipped without storing anything.
  template <class T>
  void read_tagged_fields(T& value);

  [[nodiscard]] bool enter_tagged_field(int64_t& tag, const std::byte*& outer_end);
  [[nodiscard]] uint32_t read_tag_count() {
    if (position_ == end_ || *position_ != std::byte{0}) [[unlikely]] return read_some_tag_count();
    ++position_;
    return 0;
  }
  [[nodiscard]] uint32_t read_some_tag_count();

  const std::byte* begin_;
  const std::byte* position_;
  const std::byte* end_;  // of the body, or of the tagged field being read
  base::Arena& arena_;
  int16_t version_;
  bool flexible_;
  const char* field_ = "";  // being read, for the error
  DecodeError error_;
};

// The pass that looks for the one field with a given tag.
template <class>
struct TaggedFieldReader {
  Decoder& decoder;
  int64_t tag;
  bool known = false;

  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, T& member, const Spec spec = {}) {
    if (!spec.is_tagged() || spec.tag != tag) return;
    if (!spec.versions.contains(decoder.version_)) return;
    known = true;
    decoder.field_ = name.data();
    decoder.read(member, spec.nullable.contains(decoder.version_));
  }
};

template <class T>
void Decoder::read_tagged_fields(T& value) {
  int64_t tag = kNoTag;
  for (uint32_t count = read_tag_count(); count > 0; --count) {
    const std::byte* outer_end = nullptr;
    if (!enter_tagged_field(tag, outer_end)) return;
    bool known = false;
    if constexpr (has_tagged_fields<T>()) {
      TaggedFieldReader<T> reader{*this, tag};
      T::describe(reader, value);
      if (failed()) return;
      known = reader.known;
    }
    if (known && position_ != end_) {
      fail(DecodeError::Reason::trailing_bytes);
      return;
    }
    position_ = end_;
    end_ = outer_end;
  }
}

}  // namespace weir::wire
