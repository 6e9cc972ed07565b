#pragma once
// Visitor that turns a message into one line for a trace. Use print() of codec.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/wire/limits.h"
#include "engine/wire/schema.h"

namespace weir::wire {

// Appends Name{Field=value, …} with the fields of one version: strings quoted and escaped, bytes
// and records as their size, arrays up to a number of elements, tagged fields unless default.
class Printer {
 public:
  Printer(std::string& out, int16_t version) : out_(out), version_(version) {}

  template <Described M>
  void print_message(const MessageInfo& info, const M& m) {
    append_name(info);
    print_struct(m);
  }

  // One field, called by describe().
  template <class T>
  void operator()(std::string_view name, const T& member, const Spec spec = {}) {
    if (!spec.versions.contains(version_)) return;
    if (spec.is_tagged() && DefaultTest::has_default(member, spec)) return;
    append_field(name);
    print_value(member);
  }

 private:
  template <Described T>
  void print_struct(const T& value) {
    out_ += '{';
    first_ = true;
    T::describe(*this, value);
    out_ += '}';
    first_ = false;
  }

  template <class T>
  void print_value(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, double>) {
      append_double(value);
    } else if constexpr (schema_detail::kIsScalar<T>) {
      append_integer(value);
    } else if constexpr (std::is_same_v<T, Uuid>) {
      out_ += value.to_string();
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      append_string(value);
    } else if constexpr (std::is_same_v<T, NullableString>) {
      value.has_value() ? append_string(*value) : append_null();
    } else if constexpr (std::is_same_v<T, Bytes>) {
      append_size(value.size());
    } else if constexpr (std::is_same_v<T, NullableBytes> || std::is_same_v<T, Records>) {
      value.has_value() ? append_size(value->size()) : append_null();
    } else if constexpr (std::is_same_v<T, RecordsChain>) {
      value.null ? append_null() : append_size(value.size());
    } else if constexpr (kIsArray<T>) {
      print_array(value);
    } else if constexpr (OptionalStruct<T>) {
      value.has_value() ? print_struct(*value) : append_null();
    } else {
      print_struct(value);
    }
  }

  template <class E>
  void print_array(const Array<E>& array) {
    if (array.is_null()) return append_null();
    out_ += '[';
    for (size_t i = 0; i < array.size() && i < kPrintedElementsMax; ++i) {
      if (i > 0) out_ += ", ";
      print_value(array[i]);
    }
    if (array.size() > kPrintedElementsMax) append_more(array.size() - kPrintedElementsMax);
    out_ += ']';
  }

  void append_name(const MessageInfo& info);
  void append_field(std::string_view name);
  void append_integer(int64_t value);
  void append_double(double value);
  void append_string(std::string_view text);
  void append_size(size_t size);
  void append_more(size_t count);
  void append_null();

  std::string& out_;
  int16_t version_;
  bool first_ = true;  // the next field is the first of its struct
};

}  // namespace weir::wire
