#include "engine/log/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

namespace weir::log {
namespace {

constexpr size_t kDigits = 20;
constexpr size_t kTopicShownMax = 200;  // of at most 249 characters; NAME_MAX is 255
constexpr std::string_view kDeletedMark = ".deleted";

constexpr std::string_view kCoreMark = "core-";
constexpr std::string_view kJournalSuffix = ".journal";
constexpr std::string_view kReserveMark = "reserve.core-";

// All of the text, in digits; larger than the type holds: no number.
template <class Integer>
bool parse_whole(std::string_view text, Integer& value, int base = 10) {
  if (text.empty() || text[0] == '-') return false;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value, base);
  return fault == std::errc() && stop == end;
}

// "core-<n>." from the front of `text`; false: it does not begin so.
bool take_core(std::string_view& text, uint32_t& core) {
  const size_t dot = text.find('.');
  if (!text.starts_with(kCoreMark) || dot == std::string_view::npos) return false;
  if (!parse_whole(text.substr(kCoreMark.size(), dot - kCoreMark.size()), core)) return false;
  text.remove_prefix(dot + 1);
  return true;
}

std::optional<int64_t> parse_digits(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string topics_directory(std::string_view data) { return fmt::format("{}/topics", data); }

std::string partition_directory(std::string_view data, std::string_view topic,
                                model::PartitionKey key) {
  return fmt::format("{}/topics/{}-{}.{}", data, topic.substr(0, kTopicShownMax),
                     key.index.value(), key.topic.value());
}

std::optional<model::PartitionKey> parse_partition_directory(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const size_t dash = name.rfind('-', dot);
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  int32_t index = -1;
  uint32_t serial = 0;
  if (!parse_whole(name.substr(dash + 1, dot - dash - 1), index) ||
      !parse_whole(name.substr(dot + 1), serial)) {
    return std::nullopt;
  }
  return model::PartitionKey{model::TopicSerial(serial), model::PartitionIndex(index)};
}

std::string deleted_directory(std::string_view data, model::PartitionKey key) {
  return fmt::format("{}/topics/{}-{}{}", data, key.topic.value(), key.index.value(),
                     kDeletedMark);
}

bool is_deleted_directory(std::string_view name) {
  return name.ends_with(kDeletedMark);
}

std::string journal_directory(std::string_view data) { return fmt::format("{}/journal", data); }

std::string journal_file(std::string_view data, uint32_t core, uint64_t generation) {
  return fmt::format("{}/journal/{}{}.{}{}", data, kCoreMark, core, generation, kJournalSuffix);
}

std::optional<JournalName> parse_journal_file(std::string_view name) {
  JournalName parsed;
  if (!name.ends_with(kJournalSuffix) || !take_core(name, parsed.core)) return std::nullopt;
  if (name.size() < kJournalSuffix.size()) return std::nullopt;
  name.remove_suffix(kJournalSuffix.size());
  if (!parse_whole(name, parsed.generation)) return std::nullopt;
  return parsed;
}

std::string pool_directory(std::string_view data) { return fmt::format("{}/pool", data); }

std::string pool_file(std::string_view directory, uint32_t core, uint64_t run, uint64_t number) {
  return fmt::format("{}/{}{}.{:016x}.{}", directory, kCoreMark, core, run, number);
}

bool is_pool_file(std::string_view name) {
  constexpr size_t kRunDigits = 16;
  uint32_t core = 0;
  uint64_t run = 0;
  uint64_t number = 0;
  if (!take_core(name, core) || name.size() <= kRunDigits || name[kRunDigits] != '.') return false;
  const std::string_view digits = name.substr(0, kRunDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         parse_whole(digits, run, 16) && parse_whole(name.substr(kRunDigits + 1), number);
}

std::string reserve_file(uint32_t core) { return fmt::format("{}{}", kReserveMark, core); }

bool is_reserve_file(std::string_view name) {
  uint32_t core = 0;
  return name.starts_with(kReserveMark) && parse_whole(name.substr(kReserveMark.size()), core);
}

std::string segment_file(std::string_view directory, model::Offset base_offset,
                         std::string_view suffix) {
  return segment_file(directory, SegmentName(base_offset), suffix);
}

std::optional<model::Offset> parse_segment_file(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const auto value = parse_digits(name.substr(0, kDigits));
  if (!value) return std::nullopt;
  return model::Offset(*value);
}

std::string segment_name(const SegmentName& name, std::string_view suffix) {
  if (!name.is_cleaned()) return fmt::format("{:020}{}", name.base_offset.value(), suffix);
  return fmt::format("{:020}.{:020}.{:020}.{:020}{}", name.base_offset.value(),
                     name.next_offset.value(), name.clean_end.value(), name.pass, suffix);
}

std::string segment_file(std::string_view directory, const SegmentName& name,
                         std::string_view suffix) {
  return fmt::format("{}/{}", directory, segment_name(name, suffix));
}

std::optional<SegmentName> parse_segment_name(std::string_view name, std::string_view suffix) {
  if (const auto base = parse_segment_file(name, suffix)) return SegmentName(*base);
  constexpr size_t kParts = 4;
  if (name.size() != kParts * (kDigits + 1) - 1 + suffix.size() || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  std::array<int64_t, kParts> parts{};
  for (size_t i = 0; i < kParts; ++i) {
    const size_t at = i * (kDigits + 1);
    const auto value = parse_digits(name.substr(at, kDigits));
    if (!value || (i > 0 && name[at - 1] != '.')) return std::nullopt;
    parts[i] = *value;
  }
  const auto [base, next, clean, pass] = parts;
  if (next <= base || clean > next || pass == 0) return std::nullopt;
  return SegmentName(model::Offset(base), model::Offset(next), model::Offset(clean),
                     static_cast<uint64_t>(pass));
}

std::vector<SegmentName> take_superseded(std::vector<SegmentName>& names) {
  const auto in_order = [](const SegmentName& a, const SegmentName& b) {
    return std::tuple(a.base_offset, a.pass) < std::tuple(b.base_offset, b.pass);
  };
  std::ranges::sort(names, in_order);
  std::vector<SegmentName> superseded;
  std::vector<SegmentName> alive;
  // A range covers segments whole, so two of them lie in one another or apart: what may supersede a
  // name is the last that is alive before it.
  for (const SegmentName& name : names) {
    while (!alive.empty() && name.supersedes(alive.back())) {
      superseded.push_back(alive.back());
      alive.pop_back();
    }
    const bool inside = !alive.empty() && alive.back().supersedes(name);
    (inside ? superseded : alive).push_back(name);
  }
  std::ranges::sort(superseded, in_order);
  names = std::move(alive);
  return superseded;
}

}  // namespace weir::log
