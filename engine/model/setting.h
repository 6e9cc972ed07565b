#pragma once
// The settings idiom: how a struct of settings is described once, and what comes from it.
//
//   struct Settings {
//     int32_t num_partitions = 1;  // the initialiser is the default
//     static constexpr void describe(auto& setting, auto& s) {
//       setting("num.partitions", s.num_partitions, {.min = 1, .max = 10'000, .doc = "..."});
//     }
//   };
//
// A visitor is called with name, member and spec of each setting. From one description come parsing
// and range checks (set_setting), listing for --help, DescribeConfigs and docs/CONFIG.md
// (list_settings), and a compile-time check of the defaults (defaults_in_range).
//
// Member types: bool, int16_t, int32_t, int64_t, double, std::string, ChoiceSet, and enums of type
// uint8_t whose enumerators are 0, 1, 2 ... in the order of spec.choices.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/base/result.h"

namespace weir::model {

// Numbers of the protocol (DescribeConfigs v3+).
enum class SettingType : int8_t {
  boolean = 1,
  string = 2,
  int32 = 3,
  int16 = 4,
  int64 = 5,
  float64 = 6,
  list = 7,
  class_name = 8,
  password = 9,
};

// Where an effective value comes from; numbers of the protocol (DescribeConfigs v1+).
enum class SettingSource : int8_t {
  topic = 1,
  dynamic_broker = 2,
  dynamic_default_broker = 3,
  static_broker = 4,
  default_value = 5,
  group = 8,
};

// A subset of at most eight named choices: bit i is choice i. Written as a comma-separated list.
struct ChoiceSet {
  uint8_t bits = 0;
  [[nodiscard]] constexpr bool has(uint8_t choice) const { return (bits >> choice & 1) != 0; }
  friend constexpr bool operator==(ChoiceSet, ChoiceSet) = default;
};

struct SettingSpec {
  // Bounds of a number, both allowed; a double without a max has none.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> special = std::nullopt;  // one more number, such as -1 for "no limit"
  std::string_view unit = {};                     // "bytes", "ms"; empty for plain counts and texts
  std::string_view choices = {};                  // enums and ChoiceSets: "a|b|c"
  bool dynamic = false;                           // may be changed while the broker runs
  bool list = false;                              // a std::string that is a comma-separated list
  bool null_when_unset = false;   // "" or `special` is shown as null: the setting is not in use
  std::string_view synonym = {};  // of a topic setting: the broker setting that gives its default
  bool synonym_unset = false;     // that one is not in use by default: others imply its value
  std::string_view doc = {};      // one sentence

  [[nodiscard]] constexpr double double_max() const {
    const bool bounded = max != std::numeric_limits<int64_t>::max();
    return bounded ? static_cast<double>(max) : std::numeric_limits<double>::max();
  }
};

// One setting of a listed struct, as texts.
struct SettingInfo {
  std::string_view name;
  SettingType type;
  SettingSpec spec;
  std::optional<std::string> value;          // in the struct that was listed
  std::optional<std::string> default_value;  // of a struct nobody touched
  bool given = false;                        // set by the operator, maybe to the default
};

namespace setting_detail {

std::string_view trim(std::string_view text);
base::Result<int64_t> parse_integer(std::string_view name, const SettingSpec& spec,
                                    int64_t type_min, int64_t type_max, std::string_view text);
base::Result<double> parse_double(std::string_view name, const SettingSpec& spec,
                                  std::string_view text);
base::Result<bool> parse_bool(std::string_view name, std::string_view text);
base::Result<uint8_t> parse_choice(std::string_view name, const SettingSpec& spec,
                                   std::string_view text);
base::Result<ChoiceSet> parse_choice_set(std::string_view name, const SettingSpec& spec,
                                         std::string_view text);
std::string print_double(double value);
std::string print_choice(const SettingSpec& spec, uint8_t choice);
std::string print_choice_set(const SettingSpec& spec, ChoiceSet set);

}  // namespace setting_detail

// Numbers as Java prints them, lists joined by "," without spaces, booleans in lower case.
std::string print_setting_integer(int64_t value);

template <class T>
concept SettingNumber =
    std::same_as<T, int16_t> || std::same_as<T, int32_t> || std::same_as<T, int64_t>;

// Parses `text`, with spaces around it ignored, into the member. The error names setting, value and
// what is allowed; the member is then unchanged.
template <class T>
base::Status parse_setting(std::string_view name, T& member, const SettingSpec& spec,
                           std::string_view text) {
  namespace detail = setting_detail;
  if constexpr (std::same_as<T, bool>) {
    TRY(member, detail::parse_bool(name, text));
  } else if constexpr (SettingNumber<T>) {
    TRY(const int64_t value, detail::parse_integer(name, spec, std::numeric_limits<T>::min(),
                                                   std::numeric_limits<T>::max(), text));
    member = static_cast<T>(value);
  } else if constexpr (std::same_as<T, double>) {
    TRY(member, detail::parse_double(name, spec, text));
  } else if constexpr (std::same_as<T, ChoiceSet>) {
    TRY(member, detail::parse_choice_set(name, spec, text));
  } else if constexpr (std::is_enum_v<T>) {
    TRY(const uint8_t choice, detail::parse_choice(name, spec, text));
    member = static_cast<T>(choice);
  } else {
    static_assert(std::same_as<T, std::string>);
    member = detail::trim(text);
  }
  return {};
}

template <class T>
std::optional<std::string> print_setting(const T& member, const SettingSpec& spec) {
  if constexpr (std::same_as<T, bool>) {
    return member ? "true" : "false";
  } else if constexpr (SettingNumber<T>) {
    if (spec.null_when_unset && spec.special == member) return std::nullopt;
    return print_setting_integer(member);
  } else if constexpr (std::same_as<T, double>) {
    return setting_detail::print_double(member);
  } else if constexpr (std::same_as<T, ChoiceSet>) {
    return setting_detail::print_choice_set(spec, member);
  } else if constexpr (std::is_enum_v<T>) {
    return setting_detail::print_choice(spec, static_cast<uint8_t>(member));
  } else {
    if (spec.null_when_unset && member.empty()) return std::nullopt;
    return member;
  }
}

template <class T>
constexpr SettingType setting_type(const SettingSpec& spec) {
  if constexpr (std::same_as<T, bool>) return SettingType::boolean;
  if constexpr (std::same_as<T, int16_t>) return SettingType::int16;
  if constexpr (std::same_as<T, int32_t>) return SettingType::int32;
  if constexpr (std::same_as<T, int64_t>) return SettingType::int64;
  if constexpr (std::same_as<T, double>) return SettingType::float64;
  if constexpr (std::same_as<T, ChoiceSet>) return SettingType::list;
  return spec.list ? SettingType::list : SettingType::string;
}

// "0 ... 9223372036854775807 ms", "one of a, b", ... for error messages and documentation.
std::string allowed_values(SettingType type, const SettingSpec& spec);

// Visitor: finds one setting by name and parses into it.
struct SettingSetter {
  std::string_view name;
  std::string_view text;
  bool found = false;
  base::Status status{};

  template <class T>
  void operator()(std::string_view candidate, T& member, const SettingSpec& spec) {
    if (candidate != name) return;
    found = true;
    status = parse_setting(name, member, spec, text);
  }
};

// Visitor: lists texts of every setting; `defaults` are those of an untouched struct, same order.
struct SettingLister {
  std::vector<SettingInfo>& out;

  template <class T>
  void operator()(std::string_view name, const T& member, const SettingSpec& spec) {
    out.push_back({.name = name,
                   .type = setting_type<T>(spec),
                   .spec = spec,
                   .value = print_setting(member, spec),
                   .default_value = {}});
  }
};

// Visitor: compile-time check that defaults are within their own bounds.
struct DefaultCheck {
  bool ok = true;

  template <class T>
  constexpr void operator()(std::string_view, const T& member, const SettingSpec& spec) {
    if constexpr (SettingNumber<T>) {
      ok = ok && ((member >= spec.min && member <= spec.max) || spec.special == member);
    } else if constexpr (std::same_as<T, double>) {
      ok = ok && member >= static_cast<double>(spec.min) && member <= spec.double_max();
    } else if constexpr (std::is_enum_v<T>) {
      static_assert(std::same_as<std::underlying_type_t<T>, uint8_t>);
      ok = ok && static_cast<size_t>(member) < choice_count(spec.choices);
    }
    ok = ok && !spec.doc.empty() && spec.doc.back() == '.';
  }

 private:
  static constexpr size_t choice_count(std::string_view choices) {
    size_t count = 1;
    for (const char c : choices) count += c == '|' ? 1 : 0;
    return count;
  }
};

template <class Settings>
consteval bool defaults_in_range() {
#ifdef __clang__
  return true;  // clang 19 cannot build libstdc++ 12's std::string at compile time; GCC checks
#else
  DefaultCheck check;
  Settings defaults{};  // not const: GCC 12 cannot build a const std::string at compile time
  Settings::describe(check, std::as_const(defaults));
  return check.ok;
#endif
}

// All settings of the struct in the order of its description.
template <class Settings>
std::vector<SettingInfo> list_settings(const Settings& settings) {
  std::vector<SettingInfo> infos;
  std::vector<SettingInfo> defaults;
  SettingLister lister{infos};
  Settings::describe(lister, settings);
  SettingLister default_lister{defaults};
  const Settings untouched{};
  Settings::describe(default_lister, untouched);
  for (size_t i = 0; i < infos.size(); ++i) infos[i].default_value = std::move(defaults[i].value);
  return infos;
}

// Sets one setting by name; false when there is none of that name.
template <class Settings>
base::Result<bool> set_setting(Settings& settings, std::string_view name, std::string_view text) {
  SettingSetter setter{name, text};
  Settings::describe(setter, settings);
  CHECK_OK(setter.status);
  return setter.found;
}

// The name nearest to a mistyped one, when it is near enough to suggest; else empty.
std::string_view nearest_name(std::string_view typed, std::span<const SettingInfo> infos);

}  // namespace weir::model
