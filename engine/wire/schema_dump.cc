#include "engine/wire/schema_dump.h"

#include <fmt/format.h>

#include <iterator>

#include "engine/wire/all_messages.h"

namespace weir::wire {

namespace {

void append_fields(std::string& out, const std::vector<FieldSchema>& fields, size_t depth) {
  for (const FieldSchema& field : fields) {
    fmt::format_to(std::back_inserter(out), "{:{}}{} {} {}", "", 2 * depth, field.name, field.type,
                   to_string(field.versions));
    if (!field.nullable.empty()) out += " nullable " + to_string(field.nullable);
    if (field.tag != kNoTag) out += fmt::format(" tag {}", field.tag);
    if (!field.default_value.empty()) out += " default " + field.default_value;
    out += '\n';
    append_fields(out, field.fields, depth + 1);
  }
}

}  // namespace

void SchemaDump::add(std::string_view name, const Spec& spec, bool is_array, std::string_view type,
                     int64_t default_value) {
  FieldSchema& field = fields_.emplace_back();
  field.name = name;
  field.type = is_array ? "[]" : "";
  field.type += type;
  field.versions = spec.versions;
  field.nullable = spec.nullable;
  field.tag = spec.tag;
  if (spec.null_default) {
    field.default_value = "null";
  } else if (type == "bool" && !is_array) {
    field.default_value = default_value != 0 ? "true" : "false";
  } else if (type.starts_with("int") && !is_array) {
    field.default_value = std::to_string(default_value);
  }
}

std::vector<MessageSchema> all_schemas() {
  std::vector<MessageSchema> schemas;
  const auto add = [&]<class M>() { schemas.push_back(schema_of<M>()); };
  AllRequests::for_each(add);
  AllResponses::for_each(add);
  AllRecords::for_each(add);
  return schemas;
}

std::string to_string(Versions versions) {
  if (versions.empty()) return "none";
  if (versions.max == Versions::kOpen) return fmt::format("{}+", versions.min);
  if (versions.min == versions.max) return fmt::format("{}", versions.min);
  return fmt::format("{}-{}", versions.min, versions.max);
}

std::string to_text(const MessageSchema& schema) {
  const Versions flexible = schema.info.first_flexible_version == kNeverFlexible
                                ? kNoVersion
                                : since(schema.info.first_flexible_version);
  std::string out = fmt::format("{}{} {} flexible {}\n", schema.info.name, schema.info.suffix(),
                                to_string(schema.info.versions), to_string(flexible));
  append_fields(out, schema.fields, 1);
  return out;
}

}  // namespace weir::wire
