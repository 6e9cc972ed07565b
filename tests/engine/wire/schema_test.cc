// Our descriptions say the same as Kafka's JSON: for every message and every version we serve, the
// same fields in the same order with the same type, nullability, tag and default. Upstream's files
// are looked for in WEIR_SHARED_DIR (environment or compile definition), else beside the source.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/wire/schema_dump.h"
#include "tests/engine/wire/shared_dir.h"

namespace weir::wire {
namespace {

// In the order of their tags, equal ones as they were.
template <typename Field, typename TagOf>
std::vector<Field> by_tags(const std::vector<Field>& fields, TagOf tag_of) {
  std::multimap<int, Field> ordered;
  for (const Field& field : fields) ordered.emplace(tag_of(field), field);
  std::vector<Field> all;
  for (const auto& [tag, field] : ordered) all.push_back(field);
  return all;
}

using nlohmann::json;

class Comparison {
 public:
  Comparison(const MessageSchema& ours, const json& theirs)
      : ours_(ours), theirs_(theirs), max_(ours.info.versions.max) {}

  void run() {
    const Versions valid = parse(theirs_.at("validVersions"));
    const bool is_key = ours_.info.kind == MessageKind::record_key;
    if (!is_key) {
      EXPECT_LE(valid.min, ours_.info.versions.min);
      EXPECT_GE(valid.max, ours_.info.versions.max);
      // The newest InitProducerId is not stable upstream and not advertised by anyone.
      const int unstable = ours_.info.name == "InitProducerId" ? 1 : 0;
      EXPECT_EQ(valid.max - unstable, ours_.info.versions.max);
      EXPECT_EQ(theirs_.at("apiKey").get<int>(), ours_.info.key);
    }
    const Versions flexible = parse(theirs_.at("flexibleVersions"));
    for (int16_t v = ours_.info.versions.min; v <= max_; ++v) {
      SCOPED_TRACE("version " + std::to_string(v));
      EXPECT_EQ(ours_.info.is_flexible(v), flexible.contains(v) && !flexible.empty());
      // A key's type is its version with us; upstream each type is a message of version 0.
      compare(ours_.fields, theirs_.at("fields"), v, is_key ? int16_t{0} : v);
    }
  }

 private:
  static Versions parse(const std::string& text) {
    if (text == "none") return kNoVersion;
    const auto number = [](const std::string& digits) {
      return static_cast<int16_t>(std::stoi(digits));
    };
    if (text.ends_with("+")) return since(number(text));
    const size_t dash = text.find('-');
    if (dash == std::string::npos) return between(number(text), number(text));
    return between(number(text), number(text.substr(dash + 1)));
  }
  static bool has(const json& field, const char* key, int16_t version) {
    if (!field.contains(key)) return false;
    const Versions versions = parse(field.at(key));
    return !versions.empty() && versions.contains(version);
  }

  void compare(const std::vector<FieldSchema>& ours, const json& theirs, int16_t ours_version,
               int16_t theirs_version) {
    std::vector<const FieldSchema*> mine;
    for (const FieldSchema& field : ours) {
      if (field.versions.contains(ours_version)) mine.push_back(&field);
    }
    // Tagged fields are written behind the others, by their tags, wherever they are listed.
    mine = by_tags(mine, [](const FieldSchema* field) { return field->tag; });
    std::vector<const json*> upstream;
    for (const json& field : theirs) {
      // Tagged fields of records name no other versions.
      const char* const key = field.contains("versions") ? "versions" : "taggedVersions";
      if (has(field, key, theirs_version)) upstream.push_back(&field);
    }
    upstream = by_tags(upstream, [&](const json* field) {
      return has(*field, "taggedVersions", theirs_version) ? field->at("tag").get<int>() : kNoTag;
    });
    ASSERT_EQ(mine.size(), upstream.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      SCOPED_TRACE(mine[i]->name);
      compare_field(*mine[i], *upstream[i], ours_version, theirs_version);
    }
  }

  void compare_field(const FieldSchema& ours, const json& theirs, int16_t ours_version,
                     int16_t theirs_version) {
    EXPECT_EQ(ours.name, theirs.at("name").get<std::string>());
    const std::string type = theirs.at("type");
    const bool array = type.starts_with("[]");
    const std::string element = array ? type.substr(2) : type;
    const bool primitive = kPrimitives.contains(element);
    EXPECT_EQ(ours.type, (array ? "[]" : "") + (primitive ? element : "struct"));
    EXPECT_EQ(ours.nullable.contains(ours_version) && !ours.nullable.empty(),
              has(theirs, "nullableVersions", theirs_version));
    const bool tagged = has(theirs, "taggedVersions", theirs_version);
    EXPECT_EQ(ours.tag, tagged ? theirs.at("tag").get<int>() : kNoTag);
    if (element != "records") {
      EXPECT_EQ(ours.default_value, default_of(theirs, element, array));
    }
    EXPECT_FALSE(theirs.contains("flexibleVersions")) << "only the request header overrides these";
    if (primitive) return;
    compare(ours.fields, fields_of(theirs, element), ours_version, theirs_version);
  }

  const json& fields_of(const json& field, const std::string& type) const {
    if (field.contains("fields")) return field.at("fields");
    for (const json& common : theirs_.at("commonStructs")) {
      if (common.at("name") == type) return common.at("fields");
    }
    ADD_FAILURE() << "no struct " << type;
    static const json none = json::array();
    return none;
  }

  static std::string default_of(const json& field, const std::string& type, bool array) {
    std::string text;
    if (field.contains("default")) {
      const json& value = field.at("default");
      text = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (text == "null") return text;
    if (array) return "";
    if (type == "bool") return text.empty() ? "false" : text;
    if (!type.starts_with("int")) return text;
    return text.empty() ? "0" : std::to_string(std::stoll(text, nullptr, 0));
  }

  static inline const std::set<std::string> kPrimitives = {
      "bool", "int8",    "int16", "int32",  "int64", "uint16",
      "uuid", "float64", "string", "bytes", "records"};

  const MessageSchema& ours_;
  const json& theirs_;
  int16_t max_;
};

std::filesystem::path file_of(const MessageInfo& info) {
  const std::string name = std::string(info.name) + std::string(info.suffix()) + ".json";
  const bool record =
      info.kind == MessageKind::record_key || info.kind == MessageKind::record_value;
  const bool transaction = info.name.starts_with("TransactionLog");
  const char* const folder = !record       ? "messages-wide"
                             : transaction ? "messages-4.2/transaction-coordinator"
                                           : "messages-4.2/group-coordinator";
  return testing::shared_dir() / folder / name;
}

TEST(Schema, EveryMessageAgreesWithKafkasJson) {
  const auto dir = testing::shared_dir();
  if (!std::filesystem::exists(dir / "messages-wide")) {
    GTEST_SKIP() << "NOT CHECKED: no Kafka message definitions in " << dir
                 << "; set WEIR_SHARED_DIR to the kafka-protocol directory";
  }
  size_t compared = 0;
  for (const MessageSchema& schema : all_schemas()) {
    const auto path = file_of(schema.info);
    SCOPED_TRACE(path.string());
    std::ifstream file(path);
    ASSERT_TRUE(file.is_open());
    const json theirs = json::parse(file, nullptr, true, true);
    Comparison(schema, theirs).run();
    ++compared;
  }
  printf("compared %zu messages with Kafka's JSON\n", compared);
  EXPECT_EQ(compared, 2 * kApis.size() + 19);
}

TEST(Schema, PrintsAsText) {
  for (const MessageSchema& schema : all_schemas()) {
    if (schema.info.name != "Heartbeat" || schema.info.kind != MessageKind::request) continue;
    EXPECT_EQ(to_text(schema),
              "HeartbeatRequest 0-4 flexible 4+\n"
              "  GroupId string 0+\n"
              "  GenerationId int32 0+ default 0\n"
              "  MemberId string 0+\n"
              "  GroupInstanceId string 3+ nullable 3+ default null\n");
    return;
  }
  FAIL();
}

}  // namespace
}  // namespace weir::wire
