#include "tools/weir/when.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace weir::tools {
namespace {

constexpr int64_t kSecond_ms = 1000;
constexpr int64_t kMinute_ms = 60 * kSecond_ms;
constexpr int64_t kHour_ms = 60 * kMinute_ms;
constexpr int64_t kDay_ms = 24 * kHour_ms;
constexpr int64_t kCountMax = 1'000'000'000;

// Reads from the front of a text; once something did not fit, ok() stays false.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool take(char c) {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) { ok_ = take(c) && ok_; }

  // Exactly `digits` digits.
  int number(size_t digits) {
    int value = 0;
    if (left_.size() < digits) return give_up();
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + digits, value);
    if (error != std::errc() || end != left_.data() + digits || value < 0) return give_up();
    left_.remove_prefix(digits);
    return value;
  }
  // Any digits, at least one.
  int64_t count() {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc() || value < 0 || value > kCountMax) return give_up();
    left_.remove_prefix(static_cast<size_t>(end - left_.data()));
    return value;
  }
  // Milliseconds of a fraction of a second: one to nine digits.
  int64_t fraction_ms() {
    int64_t ms = 0;
    int64_t scale = 100;
    size_t digits = 0;
    for (; !left_.empty() && left_[0] >= '0' && left_[0] <= '9'; ++digits, scale /= 10) {
      ms += (left_[0] - '0') * scale;
      left_.remove_prefix(1);
    }
    if (digits == 0 || digits > 9) return give_up();
    return ms;
  }
  bool take_word(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }

  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  int give_up() {
    ok_ = false;
    left_ = {};
    return 0;
  }

  std::string_view left_;
  bool ok_ = true;
};

// "Z", "+01:00", "-0530" or nothing, as milliseconds east of UTC.
int64_t read_zone_ms(Reader& reader) {
  if (reader.at_end() || reader.take('Z')) return 0;
  const bool west = reader.take('-');
  if (!west) reader.expect('+');
  const int64_t hours = reader.number(2);
  reader.take(':');
  const int64_t zone_ms = hours * kHour_ms + reader.number(2) * kMinute_ms;
  return west ? -zone_ms : zone_ms;
}

}  // namespace

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::optional<int64_t> parse_time(std::string_view text) {
  using namespace std::chrono;
  Reader reader(text);
  const year_month_day date{year(reader.number(4)),
                            month((reader.expect('-'), static_cast<unsigned>(reader.number(2)))),
                            day((reader.expect('-'), static_cast<unsigned>(reader.number(2))))};
  int64_t time_of_day_ms = 0;
  if (reader.take('T') || reader.take(' ')) {
    const int hour = reader.number(2);
    reader.expect(':');
    const int minute = reader.number(2);
    const int second = reader.take(':') ? reader.number(2) : 0;
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    time_of_day_ms = hour * kHour_ms + minute * kMinute_ms + second * kSecond_ms;
    if (reader.take('.')) time_of_day_ms += reader.fraction_ms();
  }
  const int64_t zone_ms = read_zone_ms(reader);
  if (!reader.ok() || !reader.at_end() || !date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch().count() * kDay_ms + time_of_day_ms - zone_ms;
}

std::optional<int64_t> parse_duration(std::string_view text) {
  Reader reader(text);
  const bool iso = reader.take('P');
  int64_t total_ms = 0;
  bool any = false;
  while (reader.ok() && !reader.at_end()) {
    if (iso && reader.take('T')) continue;
    const int64_t count = reader.count();
    any = true;
    if (reader.take_word("ms")) {
      total_ms += count;
    } else if (reader.take('s') || reader.take('S')) {
      total_ms += count * kSecond_ms;
    } else if (reader.take('m') || reader.take('M')) {
      total_ms += count * kMinute_ms;
    } else if (reader.take('h') || reader.take('H')) {
      total_ms += count * kHour_ms;
    } else if (reader.take('d') || reader.take('D')) {
      total_ms += count * kDay_ms;
    } else {
      return std::nullopt;
    }
  }
  if (!any || !reader.ok()) return std::nullopt;
  return total_ms;
}

std::string print_time(int64_t time_ms) {
  using namespace std::chrono;
  if (time_ms < 0) return "-";
  const sys_days days{floor<std::chrono::days>(milliseconds(time_ms))};
  const year_month_day date{days};
  const int64_t left_ms = time_ms - days.time_since_epoch().count() * kDay_ms;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     left_ms / kHour_ms, left_ms / kMinute_ms % 60, left_ms / kSecond_ms % 60,
                     left_ms % kSecond_ms);
}

}  // namespace weir::tools
