#pragma once
// Visitor that turns a description into data, to compare with Kafka's JSON and to print.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/wire/schema.h"

namespace weir::wire {

struct FieldSchema {
  std::string name;
  std::string type;  // as in Kafka's JSON: "int32", "records", "[]string", "struct", "[]struct"
  Versions versions;
  Versions nullable;
  int16_t tag = kNoTag;
  std::string default_value;  // "0", "-1", "false", "null"; empty for an empty string, array, bytes
  std::vector<FieldSchema> fields;  // of a struct
};

struct MessageSchema {
  MessageInfo info;
  std::vector<FieldSchema> fields;
};

class SchemaDump {
 public:
  template <Described T>
  static std::vector<FieldSchema> dump() {
    const T value{};
    SchemaDump visitor;
    T::describe(visitor, value);
    return std::move(visitor.fields_);
  }

  // One field, called by describe().
  template <class T>
  void operator()(std::string_view name, const T& member, const Spec spec = {}) {
    int64_t value = 0;
    if constexpr (schema_detail::kIsScalar<T>) value = static_cast<int64_t>(member);
    add(name, spec, kIsArray<T>, type_name<T>(), value);
    if constexpr (kIsArray<T>) {
      if constexpr (Described<typename T::value_type>) {
        fields_.back().fields = dump<typename T::value_type>();
      }
    } else if constexpr (OptionalStruct<T>) {
      fields_.back().fields = dump<typename T::value_type>();
    } else if constexpr (Described<T>) {
      fields_.back().fields = dump<T>();
    }
  }

 private:
  // Of the element, for an array.
  template <class T>
  static constexpr const char* type_name() {
    if constexpr (kIsArray<T>) return type_name<typename T::value_type>();
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_same_v<T, int8_t>) return "int8";
    if constexpr (std::is_same_v<T, int16_t>) return "int16";
    if constexpr (std::is_same_v<T, int32_t>) return "int32";
    if constexpr (std::is_same_v<T, int64_t>) return "int64";
    if constexpr (std::is_same_v<T, uint16_t>) return "uint16";
    if constexpr (std::is_same_v<T, double>) return "float64";
    if constexpr (std::is_same_v<T, Uuid>) return "uuid";
    if constexpr (std::is_same_v<T, std::string_view>) return "string";
    if constexpr (std::is_same_v<T, NullableString>) return "string";
    if constexpr (std::is_same_v<T, Bytes> || std::is_same_v<T, NullableBytes>) return "bytes";
    if constexpr (std::is_same_v<T, Records> || std::is_same_v<T, RecordsChain>) return "records";
    return "struct";
  }

  void add(std::string_view name, const Spec& spec, bool is_array, std::string_view type,
           int64_t default_value);

  std::vector<FieldSchema> fields_;
};

template <class M>
[[nodiscard]] MessageSchema schema_of() {
  return {M::kInfo, SchemaDump::dump<M>()};
}

// All requests, responses and records, in the order of all_messages.h.
[[nodiscard]] std::vector<MessageSchema> all_schemas();

// "0-3", "3+" or "none", within the versions of the message.
[[nodiscard]] std::string to_string(Versions versions);

// A line for the message and one a field, indented by nesting.
[[nodiscard]] std::string to_text(const MessageSchema& schema);

}  // namespace weir::wire
