#pragma once
// TopicRegex: a regular expression that names topics (KIP-848, SubscribedTopicRegex). RE2's syntax,
// as Kafka's; matched against whole names, in time linear in the name and memory that is bounded.

#include <memory>
#include <string>
#include <string_view>

#include "io/base/result.h"

namespace re2 {
class RE2;
}

namespace weir::group {

class TopicRegex {
 public:
  // The error says what is wrong with it.
  static base::Result<TopicRegex> compile(std::string_view text);
  ~TopicRegex();
  TopicRegex(TopicRegex&&) noexcept;
  TopicRegex& operator=(TopicRegex&&) noexcept;

  [[nodiscard]] bool matches(std::string_view topic) const;

 private:
  explicit TopicRegex(std::unique_ptr<re2::RE2> regex);

  std::unique_ptr<re2::RE2> regex_;
};

}  // namespace weir::group
