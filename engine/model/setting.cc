#include "engine/model/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "io/base/assert.h"

namespace weir::model {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Calls visit(index, name) for each of "a|b|c" until it returns true; that index, or nothing.
template <class Visit>
std::optional<uint8_t> find_choice(std::string_view choices, Visit visit) {
  uint8_t index = 0;
  while (true) {
    const size_t end = choices.find('|');
    if (visit(choices.substr(0, end))) return index;
    if (end == std::string_view::npos) return std::nullopt;
    choices.remove_prefix(end + 1);
    ++index;
  }
}

std::string joined_choices(std::string_view choices) {
  std::string out;
  for (const char c : choices) {
    if (c == '|') {
      out += ", ";
    } else {
      out += c;
    }
  }
  return out;
}

std::unexpected<base::Error> invalid(std::string_view name, std::string_view text,
                                     std::string_view allowed) {
  return base::error(
      0, fmt::format("Invalid value '{}' for setting {}: allowed is {}", text, name, allowed));
}

std::string number_range(SettingType type, const SettingSpec& spec) {
  int64_t min = spec.min;
  int64_t max = spec.max;
  if (type == SettingType::int32) {
    min = std::max<int64_t>(min, INT32_MIN);
    max = std::min<int64_t>(max, INT32_MAX);
  } else if (type == SettingType::int16) {
    min = std::max<int64_t>(min, INT16_MIN);
    max = std::min<int64_t>(max, INT16_MAX);
  }
  const bool endless = type == SettingType::float64 && max == INT64_MAX;
  std::string out = endless ? fmt::format("{} or more", min) : fmt::format("{} ... {}", min, max);
  if (!spec.unit.empty()) out += fmt::format(" {}", spec.unit);
  if (spec.special) out += fmt::format(", or {}", *spec.special);
  return out;
}

// Java takes a sign in front of a number, from_chars takes only minus.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr size_t kSizeMax = 64;
  if (a.size() > kSizeMax || b.size() > kSizeMax) return kSizeMax;
  std::array<size_t, kSizeMax + 1> row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

namespace setting_detail {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

base::Result<int64_t> parse_integer(std::string_view name, const SettingSpec& spec,
                                    int64_t type_min, int64_t type_max, std::string_view text) {
  const std::string_view digits = without_plus(trim(text));
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool parsed = failure == std::errc{} && end == digits.data() + digits.size();
  const bool in_range =
      value >= std::max(spec.min, type_min) && value <= std::min(spec.max, type_max);
  if (parsed && (in_range || spec.special == value)) return value;
  const SettingType type = type_max == INT16_MAX   ? SettingType::int16
                           : type_max == INT32_MAX ? SettingType::int32
                                                   : SettingType::int64;
  return invalid(name, text, number_range(type, spec));
}

base::Result<double> parse_double(std::string_view name, const SettingSpec& spec,
                                  std::string_view text) {
  const std::string_view digits = without_plus(trim(text));
  double value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool parsed = failure == std::errc{} && end == digits.data() + digits.size();
  if (parsed && value >= static_cast<double>(spec.min) && value <= spec.double_max()) {
    return value;
  }
  return invalid(name, text, number_range(SettingType::float64, spec));
}

base::Result<bool> parse_bool(std::string_view name, std::string_view text) {
  const std::string_view word = trim(text);
  if (equals_ignoring_case(word, "true")) return true;
  if (equals_ignoring_case(word, "false")) return false;
  return invalid(name, text, "true, false");
}

base::Result<uint8_t> parse_choice(std::string_view name, const SettingSpec& spec,
                                   std::string_view text) {
  const std::string_view word = trim(text);
  const auto found =
      find_choice(spec.choices, [&](std::string_view choice) { return choice == word; });
  if (found) return *found;
  return invalid(name, text, joined_choices(spec.choices));
}

base::Result<ChoiceSet> parse_choice_set(std::string_view name, const SettingSpec& spec,
                                         std::string_view text) {
  ChoiceSet set;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view word = trim(rest.substr(0, comma));
    const auto found =
        find_choice(spec.choices, [&](std::string_view choice) { return choice == word; });
    if (!found) return invalid(name, text, allowed_values(SettingType::list, spec));
    set.bits = static_cast<uint8_t>(set.bits | 1u << *found);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return invalid(name, text, allowed_values(SettingType::list, spec));
  }
  return set;
}

std::string print_double(double value) {
  std::string out = fmt::format("{}", value);
  if (const size_t exponent = out.find("e+"); exponent != std::string::npos) {
    out[exponent] = 'E';
    out.erase(exponent + 1, 1);
    return out;
  }
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string print_choice(const SettingSpec& spec, uint8_t choice) {
  std::string out;
  uint8_t left = choice;
  find_choice(spec.choices, [&](std::string_view name) {
    if (left-- != 0) return false;
    out = name;
    return true;
  });
  return out;
}

std::string print_choice_set(const SettingSpec& spec, ChoiceSet set) {
  std::string out;
  uint8_t index = 0;
  find_choice(spec.choices, [&](std::string_view name) {
    if (set.has(index++)) {
      if (!out.empty()) out += ',';
      out += name;
    }
    return false;
  });
  return out;
}

}  // namespace setting_detail

std::string print_setting_integer(int64_t value) { return fmt::format("{}", value); }

std::string allowed_values(SettingType type, const SettingSpec& spec) {
  switch (type) {
    case SettingType::boolean: return "true, false";
    case SettingType::int16:
    case SettingType::int32:
    case SettingType::int64:
    case SettingType::float64: return number_range(type, spec);
    case SettingType::list:
      if (spec.choices.empty()) return "a comma-separated list";
      return "a comma-separated list of " + joined_choices(spec.choices);
    case SettingType::string:
    case SettingType::class_name:
    case SettingType::password:
      return spec.choices.empty() ? "any text" : joined_choices(spec.choices);
  }
  UNREACHABLE("setting type {}", static_cast<int>(type));
}

std::string_view nearest_name(std::string_view typed, std::span<const SettingInfo> infos) {
  std::string_view best;
  size_t best_distance = typed.size() / 3 + 1;  // more than a third wrong is no typing error
  for (const SettingInfo& info : infos) {
    const size_t distance = edit_distance(typed, info.name);
    if (distance < best_distance) {
      best = info.name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace weir::model
