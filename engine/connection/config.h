#pragma once
// Settings of connections, and the fixed limits that go with them.

#include <cstddef>
#include <cstdint>

#include "engine/model/setting.h"
#include "io/base/units.h"

namespace weir::connection {

using base::operator""_KiB;
using base::operator""_MiB;
using base::operator""_ms;
using base::operator""_s;

// --- frames ---
// The smallest frame with a header: api key, version, correlation id, client id length.
inline constexpr size_t kFrameSizeMin = 10;
// Up to here a frame's memory is taken at once when its first bytes have come; larger ones start
// with kFrameSizeFirst and double as they arrive.
inline constexpr size_t kFrameSizeAtOnce = 1_MiB;
inline constexpr size_t kFrameSizeFirst = 64_KiB;
// From this much missing on, a body is received straight into the frame.
inline constexpr size_t kDirectReceiveMin = 16_KiB;
// Requests of all APIs but Produce.
inline constexpr size_t kOtherFrameSizeMax = 16_MiB;

// --- memory ---
// Reservations up to here may use the last quarter of the budget, so that a few large requests do
// not lock out everybody else.
inline constexpr size_t kSmallReservation = kFrameSizeFirst;

// --- pipeline ---
inline constexpr size_t kPipelineDepthMax = 64;           // requests of one connection in memory
inline constexpr size_t kPipelineSizeMax = 8_MiB;         // their frames; one more may go over it
inline constexpr size_t kOutputSizeMax = 1_MiB;           // unsent, above it nothing new is started
inline constexpr size_t kSendSizeMax = 4_MiB;             // handed to the socket at once

// --- time ---
inline constexpr int64_t kHeadDeadline_ns = 10_s;         // for the first bytes of a frame
inline constexpr int64_t kBodyGrace_ns = 30_s;            // before the minimum rate counts
inline constexpr int64_t kBodyRateMin = 4'096;            // bytes a second
inline constexpr int64_t kWriteDeadline_ns = 60_s;        // for a reader that reads nothing
inline constexpr int64_t kDrainDeadline_ns = 5_s;         // after the client's last byte, at stop
inline constexpr int64_t kAcceptRetry_ns = 100_ms;        // when descriptors ran out

struct Config {
  int32_t request_size_max = 104'857'600;
  int64_t memory_size_max = 268'435'456;
  int64_t idle_ms_max = 600'000;
  int32_t connections_max = 10'000;
  int32_t connections_per_address_max = 1'000;

  static constexpr void describe(auto& setting, auto& c) {
    setting("socket.request.max.bytes", c.request_size_max,
            {.min = 1024,
             .max = 1'073'741'824,
             .unit = "bytes",
             .doc = "Largest request; a larger one closes its connection."});
    setting("request.memory.max.bytes", c.memory_size_max,
            {.min = 4'194'304,
             .unit = "bytes",
             .doc = "Memory for requests on each core; when it is used up, connections wait."});
    setting("connections.max.idle.ms", c.idle_ms_max,
            {.min = 1,
             .unit = "ms",
             .doc = "A connection without requests for this long is closed."});
    setting("max.connections", c.connections_max,
            {.min = 1,
             .doc = "Most client connections of the whole broker; each core takes its share. Files "
                    "keep a quarter of the descriptors that the process may have."});
    setting("max.connections.per.ip", c.connections_per_address_max,
            {.min = 1, .doc = "Most client connections from one address."});
  }
};

static_assert(model::defaults_in_range<Config>());
static_assert(kFrameSizeFirst <= kFrameSizeAtOnce && kSmallReservation >= kFrameSizeFirst);
static_assert(kDirectReceiveMin <= kFrameSizeFirst);
static_assert(kPipelineSizeMax >= kFrameSizeAtOnce);

}  // namespace weir::connection
