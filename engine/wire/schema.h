#pragma once
// How a message is described, and the compile-time check of a description.
//
// A message is a struct whose members have the schema's defaults, plus two static members:
//
//   static constexpr MessageInfo kInfo = request_info(ApiKey::heartbeat);
//   static constexpr void describe(auto& field, auto& m) {
//     field("GroupId", m.group_id);
//     field("GroupInstanceId", m.group_instance_id, {.versions = since(3), .nullable = since(3)});
//   }
//
// describe() names every field once, in wire order, under the name of Kafka's JSON. A visitor
// (Decoder, Encoder, Printer, SchemaDump, Check) is called with each; a nested struct has a
// describe() of its own. The spec of a field says in which versions it exists, in which of those it
// may be null, its tag if it is a tagged field, and its default where that is not zero, empty or
// false: Check holds the member's initialiser against it. A field missing in a version keeps its
// default when decoded and is left out when encoded.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "engine/wire/api_key.h"
#include "engine/wire/types.h"

namespace weir::wire {

struct Versions {
  static constexpr int16_t kOpen = 0x7fff;

  int16_t min = 0;
  int16_t max = kOpen;  // inclusive

  // For a version of a message, so never negative. Written so that the compiler drops the tests an
  // open range does not need.
  [[nodiscard]] constexpr bool contains(int16_t version) const {
    return (min <= 0 || version >= min) && (max == kOpen || version <= max);
  }
  [[nodiscard]] constexpr bool empty() const { return min > max; }
  friend constexpr bool operator==(Versions, Versions) = default;
};

inline constexpr Versions kAllVersions{};
inline constexpr Versions kNoVersion{1, 0};
[[nodiscard]] constexpr Versions since(int16_t min) { return {min, Versions::kOpen}; }
[[nodiscard]] constexpr Versions until(int16_t max) { return {0, max}; }
[[nodiscard]] constexpr Versions between(int16_t min, int16_t max) { return {min, max}; }

inline constexpr int16_t kNoTag = -1;

struct Spec {
  Versions versions = kAllVersions;
  Versions nullable = kNoVersion;
  int16_t tag = kNoTag;
  int64_t default_value = 0;  // of an integer or bool
  bool null_default = false;  // of something nullable

  [[nodiscard]] constexpr bool is_tagged() const { return tag != kNoTag; }
};

enum class MessageKind : uint8_t { request, response, record_key, record_value };

// Identity of a message; for requests and responses it comes from the row of the API table.
struct MessageInfo {
  std::string_view name;  // of the API or the record: "Produce", "OffsetCommitValue"
  MessageKind kind;
  int16_t key;  // api key or record type
  Versions versions;
  int16_t first_flexible_version;

  // For any number a peer or a record may hold.
  [[nodiscard]] constexpr bool has_version(int16_t version) const {
    return version >= versions.min && version <= versions.max;
  }
  [[nodiscard]] constexpr bool is_flexible(int16_t version) const {
    return version >= first_flexible_version;
  }
  [[nodiscard]] constexpr std::string_view suffix() const {
    if (kind == MessageKind::request) return "Request";
    return kind == MessageKind::response ? "Response" : "";
  }
};

[[nodiscard]] constexpr MessageInfo request_info(ApiKey key) {
  const ApiInfo& api = api_info(key);
  return {api.name, MessageKind::request, static_cast<int16_t>(key),
          between(api.min_version, api.max_version), api.first_flexible_version};
}
[[nodiscard]] constexpr MessageInfo response_info(ApiKey key) {
  MessageInfo info = request_info(key);
  info.kind = MessageKind::response;
  return info;
}

namespace schema_detail {

template <class T>
inline constexpr bool kIsScalar = std::is_same_v<T, bool> || std::is_same_v<T, int8_t> ||
                                  std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t> ||
                                  std::is_same_v<T, int64_t> || std::is_same_v<T, uint16_t> ||
                                  std::is_same_v<T, double>;

template <class T>
inline constexpr bool kIsLeaf =
    kIsScalar<T> || std::is_same_v<T, Uuid> || std::is_same_v<T, std::string_view> ||
    std::is_same_v<T, NullableString> || std::is_same_v<T, Bytes> ||
    std::is_same_v<T, NullableBytes> || std::is_same_v<T, Records> ||
    std::is_same_v<T, RecordsChain>;

}  // namespace schema_detail

// A struct with fields of its own.
template <class T>
concept Described = !schema_detail::kIsLeaf<T> && !kIsArray<T> && !kIsOptional<T>;

// A struct that may be null: a byte before it says whether it is there.
template <class T>
concept OptionalStruct = !schema_detail::kIsLeaf<T> && kIsOptional<T>;

// Visits fields of a struct until one is found.
struct TaggedFieldFinder {
  bool found = false;
  constexpr void operator()(std::string_view, const auto&, Spec spec = {}) {
    found = found || spec.is_tagged();
  }
};

template <Described T>
[[nodiscard]] consteval bool has_tagged_fields() {
  const T value{};
  TaggedFieldFinder finder;
  T::describe(finder, value);
  return finder.found;
}

// Bytes a field takes at least, by version: what a count is checked against before an array of it
// is allocated. Index [flexible][version].
using MinSizes = std::array<std::array<uint16_t, kVersionsPerApiMax>, 2>;

struct MinSizeCounter {
  int16_t version;
  bool flexible;
  size_t size = 0;

  constexpr void operator()(std::string_view, const auto& member, Spec spec = {}) {
    if (!spec.is_tagged() && spec.versions.contains(version)) add(member);
  }
  template <class T>
  constexpr void add(const T& member) {
    if constexpr (schema_detail::kIsScalar<T>) {
      size += sizeof(T);
    } else if constexpr (std::is_same_v<T, Uuid>) {
      size += sizeof(T);
    } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, NullableString>) {
      size += flexible ? 1 : 2;
    } else if constexpr (OptionalStruct<T>) {
      size += 1;
    } else if constexpr (Described<T>) {
      T::describe(*this, member);
      size += flexible ? 1 : 0;
    } else {
      size += flexible ? 1 : 4;  // bytes, records, arrays
    }
  }
};

// At least one, so that no count goes unchecked: a struct may have no field in a version where its
// array does not exist either.
template <class T>
inline constexpr MinSizes kMinSizes = [] {
  MinSizes sizes{};
  for (size_t flexible = 0; flexible < 2; ++flexible) {
    for (int16_t version = 0; version < kVersionsPerApiMax; ++version) {
      MinSizeCounter counter{version, flexible != 0};
      counter.add(T{});
      sizes[flexible][static_cast<size_t>(version)] =
          static_cast<uint16_t>(counter.size == 0 ? 1 : counter.size);
    }
  }
  return sizes;
}();

// Whether a value is what decoding leaves when the field is absent; tagged fields like that are not
// encoded.
struct DefaultTest {
  bool is_default = true;

  constexpr void operator()(std::string_view, const auto& member, Spec spec = {}) {
    is_default = is_default && has_default(member, spec);
  }
  template <class T>
  [[nodiscard]] static constexpr bool has_default(const T& value, const Spec& spec) {
    if constexpr (std::is_same_v<T, double>) {
      return value == static_cast<double>(spec.default_value);
    } else if constexpr (schema_detail::kIsScalar<T>) {
      return static_cast<int64_t>(value) == spec.default_value;
    } else if constexpr (std::is_same_v<T, Uuid>) {
      return value.is_zero();
    } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, Bytes>) {
      return value.empty();
    } else if constexpr (std::is_same_v<T, NullableString> || std::is_same_v<T, NullableBytes>) {
      return spec.null_default ? !value.has_value() : value.has_value() && value->empty();
    } else if constexpr (std::is_same_v<T, Records>) {
      return !value.has_value();
    } else if constexpr (std::is_same_v<T, RecordsChain>) {
      return !value.null && value.pieces.empty();
    } else if constexpr (kIsArray<T>) {
      return value.is_null() == spec.null_default && value.empty();
    } else if constexpr (OptionalStruct<T>) {
      return spec.null_default && !value.has_value();
    } else {
      DefaultTest test;
      T::describe(test, value);
      return test.is_default;
    }
  }
};

// The compile-time check. A fault calls one of these; not being constexpr, it ends the compilation
// with its name in the message.
namespace schema_fault {
inline void version_range_is_empty() {}
inline void version_range_outside_message() {}
inline void nullable_outside_versions() {}
inline void nullable_without_nullable_type() {}
inline void tagged_before_flexible() {}
inline void tags_not_increasing() {}
inline void member_default_differs_from_spec() {}
inline void null_default_without_nullable() {}
}  // namespace schema_fault

struct Check {
  MessageInfo info;
  int16_t previous_tag = kNoTag;

  template <class T>
  constexpr void operator()(std::string_view, const T& member, Spec spec = {}) {
    check_versions(spec);
    check_null<T>(spec);
    if (spec.is_tagged()) {
      if (spec.versions.min < info.first_flexible_version) schema_fault::tagged_before_flexible();
      if (spec.tag <= previous_tag) schema_fault::tags_not_increasing();
      previous_tag = spec.tag;
    }
    if (!DefaultTest::has_default(member, spec)) schema_fault::member_default_differs_from_spec();
    check_nested<T>();
  }

 private:
  constexpr void check_versions(const Spec& spec) const {
    if (spec.versions.empty() || spec.versions.min < 0) schema_fault::version_range_is_empty();
    const bool open = spec.versions.max == Versions::kOpen;
    if (spec.versions.min > info.versions.max || spec.versions.max < info.versions.min ||
        (!open && spec.versions.max > info.versions.max)) {
      schema_fault::version_range_outside_message();
    }
    if (spec.nullable.empty()) return;
    const bool open_end = spec.nullable.max == Versions::kOpen;
    if (spec.nullable.min < spec.versions.min || spec.nullable.min > spec.versions.max ||
        (!open_end && spec.nullable.max > spec.versions.max)) {
      schema_fault::nullable_outside_versions();
    }
  }

  template <class T>
  static constexpr void check_null(const Spec& spec) {
    constexpr bool kMayBeNull =
        std::is_same_v<T, NullableString> || std::is_same_v<T, NullableBytes> || kIsArray<T> ||
        OptionalStruct<T> || std::is_same_v<T, Records> || std::is_same_v<T, RecordsChain>;
    if (!spec.nullable.empty() && !kMayBeNull) schema_fault::nullable_without_nullable_type();
    if (spec.null_default && spec.nullable.empty()) schema_fault::null_default_without_nullable();
  }

  template <class T>
  constexpr void check_nested() const {
    if constexpr (kIsArray<T> || OptionalStruct<T>) {
      check_nested<typename T::value_type>();
    } else if constexpr (Described<T>) {
      Check nested{info};
      const T value{};
      T::describe(nested, value);
    }
  }
};

template <class M>
constexpr bool check() {
  static_assert(M::kInfo.versions.max < kVersionsPerApiMax);
  static_assert(std::is_trivially_destructible_v<M>, "messages live in arenas");
  Check checker{M::kInfo};
  const M value{};
  M::describe(checker, value);
  return true;
}

}  // namespace weir::wire
