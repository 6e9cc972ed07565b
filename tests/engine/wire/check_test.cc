// The compile-time check of descriptions refuses each kind of fault. A fault makes check<M>() not a
// constant expression, which a concept can ask without ending the compilation.
#include <gtest/gtest.h>

#include <type_traits>

#include "engine/wire/all_messages.h"
#include "engine/wire/schema.h"

namespace weir::wire {
namespace {

template <class M>
concept Valid = requires { typename std::bool_constant<check<M>()>; };

template <class Fields>
struct Message : Fields {
  static constexpr MessageInfo kInfo{.name = "Test",
                                     .kind = MessageKind::request,
                                     .key = 0,
                                     .versions = between(2, 5),
                                     .first_flexible_version = 4};
};

struct Sound {
  int32_t a = -1;
  NullableString b{};
  struct Nested {
    int8_t c = 0;
    static constexpr void describe(auto& field, auto& m) { field("C", m.c); }
  };
  Nested nested{};
  Array<Nested> list{};
  static constexpr void describe(auto& field, auto& m) {
    field("A", m.a, {.versions = until(4), .default_value = -1});
    field("B", m.b, {.versions = since(3), .nullable = since(4), .null_default = true});
    field("N", m.nested, {.versions = since(4), .tag = 0});
    field("L", m.list, {.versions = between(3, 4)});
  }
};
static_assert(Valid<Message<Sound>>);

#define FAULTY(Name, Type, Init, ...)                               \
  struct Name {                                                     \
    Type a = Init;                                                  \
    Type b = Init;                                                  \
    static constexpr void describe(auto& field, auto& m) {          \
      __VA_ARGS__;                                                  \
    }                                                               \
  };                                                                \
  static_assert(!Valid<Message<Name>>)

FAULTY(EmptyRange, int8_t, 0, field("A", m.a, {.versions = between(4, 3)}));
FAULTY(RangeBelow, int8_t, 0, field("A", m.a, {.versions = until(1)}));
FAULTY(RangeAbove, int8_t, 0, field("A", m.a, {.versions = since(6)}));
FAULTY(RangeBeyond, int8_t, 0, field("A", m.a, {.versions = between(3, 6)}));
FAULTY(NullableEarlier, NullableString, "",
       field("A", m.a, {.versions = since(4), .nullable = since(3)}));
FAULTY(NullableLater, NullableString, "",
       field("A", m.a, {.versions = until(4), .nullable = since(5)}));
FAULTY(NullableInteger, int8_t, 0, field("A", m.a, {.nullable = kAllVersions}));
FAULTY(TagTooEarly, int8_t, 0, field("A", m.a, {.versions = since(3), .tag = 0}));
FAULTY(TagRepeated, int8_t, 0, field("A", m.a, {.versions = since(4), .tag = 0});
       field("B", m.b, {.versions = since(4), .tag = 0}));
FAULTY(TagDecreasing, int8_t, 0, field("A", m.a, {.versions = since(4), .tag = 1});
       field("B", m.b, {.versions = since(4), .tag = 0}));
FAULTY(WrongDefault, int8_t, -1, field("A", m.a));
FAULTY(WrongMember, int8_t, 0, field("A", m.a, {.default_value = -1}));
FAULTY(WrongNullDefault, NullableString, "",
       field("A", m.a, {.nullable = kAllVersions, .null_default = true}));
FAULTY(NullDefaultAlone, NullableString, std::nullopt, field("A", m.a, {.null_default = true}));

struct NestedFault {
  EmptyRange nested{};
  static constexpr void describe(auto& field, auto& m) { field("N", m.nested); }
};
static_assert(!Valid<Message<NestedFault>>);

struct ElementFault {
  Array<Array<EmptyRange>> list{};
  static constexpr void describe(auto& field, auto& m) { field("L", m.list); }
};
static_assert(!Valid<Message<ElementFault>>);

TEST(Check, AcceptsEveryMessage) {
  const auto accept = []<class M>() { static_assert(Valid<M>); };
  AllRequests::for_each(accept);
  AllResponses::for_each(accept);
  AllRecords::for_each(accept);
}

}  // namespace
}  // namespace weir::wire
