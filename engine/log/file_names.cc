#include "engine/log/file_names.h"

#include <fmt/format.h>

#include <charconv>

namespace weir::log {
namespace {

constexpr size_t kDigits = 20;
constexpr size_t kTopicShownMax = 200;  // of at most 249 characters; NAME_MAX is 255
constexpr std::string_view kDeletedMark = ".deleted";

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
  const auto number = [](std::string_view digits, auto& value) {
    const auto [stop, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return !digits.empty() && fault == std::errc() && stop == digits.data() + digits.size();
  };
  int32_t index = -1;
  uint32_t serial = 0;
  if (!number(name.substr(dash + 1, dot - dash - 1), index) || index < 0 ||
      !number(name.substr(dot + 1), serial)) {
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

std::string segment_file(std::string_view directory, model::Offset base_offset,
                         std::string_view suffix) {
  return fmt::format("{}/{:020}{}", directory, base_offset.value(), suffix);
}

std::optional<model::Offset> parse_segment_file(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  int64_t value = 0;
  const char* const end = name.data() + kDigits;
  const auto [stop, fault] = std::from_chars(name.data(), end, value);
  if (fault != std::errc() || stop != end || value < 0) return std::nullopt;
  return model::Offset(value);
}

}  // namespace weir::log
