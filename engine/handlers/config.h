#pragma once
// Settings of the handlers.

#include <cstdint>

#include "engine/model/setting.h"

namespace weir::handlers {

struct Config {
  int32_t fetch_size_max = 57'671'680;
  int32_t fetch_wait_ms_max = 60'000;
  int32_t quota_window_num = 11;
  int32_t quota_window_seconds = 1;

  static constexpr void describe(auto& setting, auto& c) {
    setting("fetch.max.bytes", c.fetch_size_max,
            {.min = 1024,
             .unit = "bytes",
             .doc = "Most bytes of one fetch response; the first batch always comes whole."});
    setting("fetch.max.wait.ms", c.fetch_wait_ms_max,
            {.min = 0,
             .max = 3'600'000,
             .unit = "ms",
             .doc = "Longest time a fetch waits for records, whatever the client asks."});
    setting("quota.window.num", c.quota_window_num,
            {.min = 1,
             .max = 3'600,
             .doc = "How many windows of quota.window.size.seconds a client may use up at once."});
    setting("quota.window.size.seconds", c.quota_window_seconds,
            {.min = 1,
             .max = 3'600,
             .unit = "seconds",
             .doc = "Length of the windows over which the use of quotas evens out."});
  }
};

static_assert(model::defaults_in_range<Config>());

}  // namespace weir::handlers
