#include "engine/group/topic_regex.h"

#include <re2/re2.h>

#include <cerrno>

#include "engine/group/limits.h"

namespace weir::group {

TopicRegex::TopicRegex(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
TopicRegex::~TopicRegex() = default;
TopicRegex::TopicRegex(TopicRegex&&) noexcept = default;
TopicRegex& TopicRegex::operator=(TopicRegex&&) noexcept = default;

base::Result<TopicRegex> TopicRegex::compile(std::string_view text) {
  if (text.size() > kRegexSizeMax) return base::error(EINVAL, "longer than 4096 bytes");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryMax);
  auto regex = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!regex->ok()) return base::error(EINVAL, regex->error());
  return TopicRegex(std::move(regex));
}

bool TopicRegex::matches(std::string_view topic) const {
  return re2::RE2::FullMatch(re2::StringPiece(topic.data(), topic.size()), *regex_);
}

}  // namespace weir::group
