// The settings idiom: parsing, printing, listing and suggestions, over a struct with every member
// type.
#include "engine/model/setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::model {
namespace {

using testing::HasSubstr;

enum class Color : uint8_t { red, green };

struct Sample {
  bool on = true;
  int16_t small = 1;
  int32_t medium = 2;
  int64_t large = -1;
  double ratio = 1;
  std::string text = "t";
  ChoiceSet set{.bits = 2};
  Color color = Color::green;

  static constexpr void describe(auto& setting, auto& s) {
    setting("on", s.on, {.doc = "On."});
    setting("small", s.small, {.doc = "Small."});
    setting("medium", s.medium, {.min = 0, .max = 9, .unit = "ms", .doc = "Medium."});
    setting("large", s.large, {.min = 0, .special = -1, .null_when_unset = true, .doc = "Large."});
    setting("ratio", s.ratio, {.min = 0, .max = 1, .doc = "Ratio."});
    setting("text", s.text, {.doc = "Text."});
    setting("set", s.set, {.choices = "a|b|c", .doc = "Set."});
    setting("color", s.color, {.choices = "red|green", .doc = "Color."});
  }
};
static_assert(defaults_in_range<Sample>());

std::optional<std::string> after(std::string_view name, std::string_view text) {
  Sample sample;
  const auto found = set_setting(sample, name, text);
  EXPECT_TRUE(found && *found) << name << " " << text;
  for (const SettingInfo& info : list_settings(sample)) {
    if (info.name == name) return info.value;
  }
  return "missing";
}

std::string fault(std::string_view name, std::string_view text) {
  Sample sample;
  const auto found = set_setting(sample, name, text);
  return found ? "accepted" : found.error().detail;
}

TEST(SettingTest, ParsesAndPrintsAsJavaDoes) {
  EXPECT_EQ(after("on", " False "), "false");
  EXPECT_EQ(after("small", "-32768"), "-32768");
  EXPECT_EQ(after("medium", "9"), "9");
  EXPECT_EQ(after("large", "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(after("large", "-1"), std::nullopt);
  EXPECT_EQ(after("ratio", "1"), "1.0");
  EXPECT_EQ(after("ratio", "0.25"), "0.25");
  EXPECT_EQ(after("text", " x "), "x");
  EXPECT_EQ(after("set", " c , a"), "a,c");
  EXPECT_EQ(after("set", ""), "");
  EXPECT_EQ(after("color", "red"), "red");
}

TEST(SettingTest, ErrorsNameSettingValueAndWhatIsAllowed) {
  EXPECT_EQ(fault("medium", "10"), "Invalid value '10' for setting medium: allowed is 0 ... 9 ms");
  EXPECT_EQ(fault("small", "32768"),
            "Invalid value '32768' for setting small: allowed is -32768 ... 32767");
  EXPECT_THAT(fault("large", "-2"), HasSubstr("or -1"));
  EXPECT_THAT(fault("set", "d"), HasSubstr("a, b, c"));
  EXPECT_THAT(fault("color", "blue"), HasSubstr("red, green"));
  for (const char* text : {"", " ", "1.0", "0x1", "1 2", "--1", "+-1", "99999999999999999999"}) {
    EXPECT_THAT(fault("medium", text), HasSubstr("Invalid value")) << text;
  }
}

TEST(SettingTest, ListsTypesAndDefaults) {
  Sample sample;
  sample.medium = 7;
  const auto infos = list_settings(sample);
  ASSERT_EQ(infos.size(), 8u);
  EXPECT_EQ(infos[2].value, "7");
  EXPECT_EQ(infos[2].default_value, "2");
  EXPECT_EQ(infos[2].type, SettingType::int32);
  EXPECT_EQ(infos[6].type, SettingType::list);
  EXPECT_EQ(infos[7].type, SettingType::string);
}

TEST(SettingTest, SuggestsTheNearestName) {
  const auto infos = list_settings(Sample{});
  EXPECT_EQ(nearest_name("mediun", infos), "medium");
  EXPECT_EQ(nearest_name("something.else", infos), "");
  Sample sample;
  EXPECT_FALSE(*set_setting(sample, "mediun", "1"));
}

}  // namespace
}  // namespace weir::model
