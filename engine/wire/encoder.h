#pragma once
// Visitor that turns a message into bytes. Use encode() of codec.h; this header is for the codec
// sources.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "engine/wire/chain_writer.h"
#include "engine/wire/limits.h"
#include "engine/wire/schema.h"
#include "io/base/bytes.h"

namespace weir::wire {

// Stops the process: a handler built a string or array that no Kafka message can carry.
[[noreturn]] void length_not_encodable(size_t length);

// Writes one message in one version. Fields the version does not have are left out. What is null
// where the version forbids it is written as empty: clients do not survive such a null.
template <class Writer>
class Encoder {
 public:
  Encoder(Writer& out, int16_t version, bool flexible)
      : out_(out), version_(version), flexible_(flexible) {}

  template <Described T>
  void write_struct(const T& value) {
    T::describe(*this, value);
    if (flexible_) write_tagged_fields(value);
  }

  // One field, called by describe().
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view, const T& member, const Spec spec = {}) {
    if (spec.is_tagged() || !spec.versions.contains(version_)) return;
    write(member, spec.nullable.contains(version_));
  }

 private:
  // Passes over the tagged fields of a struct: how many there are to write, then writing them.
  struct TagCounter {
    int16_t version;
    uint32_t count = 0;

    template <class T>
    void operator()(std::string_view, const T& member, const Spec spec = {}) {
      if (is_written(member, spec, version)) ++count;
    }
  };
  struct TagWriter {
    Encoder& encoder;

    template <class T>
    void operator()(std::string_view, const T& member, const Spec spec = {}) {
      if (!is_written(member, spec, encoder.version_)) return;
      const bool nullable = spec.nullable.contains(encoder.version_);
      SizeWriter size;
      Encoder<SizeWriter>(size, encoder.version_, true).write(member, nullable);
      encoder.out_.put_unsigned_varint(static_cast<uint32_t>(spec.tag));
      encoder.out_.put_unsigned_varint(checked_length(size.size()));
      encoder.write(member, nullable);
    }
  };
  template <class>
  friend class Encoder;

  template <class T>
  static bool is_written(const T& member, const Spec& spec, int16_t version) {
    return spec.is_tagged() && spec.versions.contains(version) &&
           !DefaultTest::has_default(member, spec);
  }

  static uint32_t checked_length(size_t length) {
    if (length > kFrameSizeMax) [[unlikely]] length_not_encodable(length);
    return static_cast<uint32_t>(length);
  }

  template <class T>
  void write(const T& member, [[maybe_unused]] bool nullable) {
    if constexpr (std::is_same_v<T, bool>) {
      out_.put(static_cast<int8_t>(member ? 1 : 0));
    } else if constexpr (std::is_same_v<T, double>) {
      out_.put(std::bit_cast<int64_t>(member));
    } else if constexpr (schema_detail::kIsScalar<T>) {
      out_.put(member);
    } else if constexpr (std::is_same_v<T, Uuid>) {
      out_.put_bytes(member.bytes);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      write_string(member);
    } else if constexpr (std::is_same_v<T, NullableString>) {
      if (!member.has_value() && nullable) return write_null<int16_t>();
      write_string(member.value_or(std::string_view{}));
    } else if constexpr (std::is_same_v<T, Bytes>) {
      write_bytes(member);
    } else if constexpr (std::is_same_v<T, NullableBytes> || std::is_same_v<T, Records>) {
      if (!member.has_value() && nullable) return write_null<int32_t>();
      write_bytes(member.has_value() ? *member : Bytes{});
    } else if constexpr (std::is_same_v<T, RecordsChain>) {
      if (member.null && nullable) return write_null<int32_t>();
      write_length<int32_t>(member.size());
      out_.put_pieces(member.pieces);
    } else if constexpr (kIsArray<T>) {
      write_array(member, nullable);
    } else if constexpr (OptionalStruct<T>) {
      write_optional(member, nullable);
    } else {
      write_struct(member);
    }
  }

  template <class Fixed>
  void write_null() {
    if (flexible_) {
      out_.put_unsigned_varint(0);
    } else {
      out_.put(static_cast<Fixed>(-1));
    }
  }

  template <class Fixed>
  void write_length(size_t length) {
    const uint32_t checked = checked_length(length);
    if (flexible_) {
      out_.put_unsigned_varint(checked + 1);
    } else {
      out_.put(static_cast<Fixed>(checked));
    }
  }

  void write_string(std::string_view text) {
    if (text.size() > kStringSizeMax) [[unlikely]] length_not_encodable(text.size());
    write_length<int16_t>(text.size());
    out_.put_bytes(base::as_bytes(text));
  }

  void write_bytes(Bytes bytes) {
    write_length<int32_t>(bytes.size());
    out_.put_bytes(bytes);
  }

  template <class E>
  void write_array(const Array<E>& array, bool nullable) {
    if (array.is_null() && nullable) return write_null<int32_t>();
    write_length<int32_t>(array.size());
    for (const E& element : array) write(element, false);
  }

  template <class T>
  void write_optional(const T& member, bool nullable) {
    const bool null = !member.has_value() && nullable;
    out_.put(static_cast<int8_t>(null ? -1 : 1));
    if (!null) write_struct(member.value_or(typename T::value_type{}));
  }

  template <class T>
  void write_tagged_fields(const T& value) {
    if constexpr (has_tagged_fields<T>()) {
      TagCounter counter{version_};
      T::describe(counter, value);
      out_.put_unsigned_varint(counter.count);
      if (counter.count == 0) return;
      TagWriter writer{*this};
      T::describe(writer, value);
    } else {
      out_.put_unsigned_varint(0);
    }
  }

  Writer& out_;
  int16_t version_;
  bool flexible_;
};

}  // namespace weir::wire
