#pragma once
// How much of their quotas clients have used (KIP-13, KIP-219), and what follows from it: how long
// a client must wait.
//
// A quota of a client holds for the whole node, so what it has used is kept in one place: its home
// core, a function of whose quota it is. A core that serves the client asks there, by message,
// before it answers; only clients with a quota pay for that.
//
// A bucket holds what may still be used at once. It fills at the rate of the quota, up to what the
// quota allows in a window (quota.window.num * quota.window.size.seconds); use takes from it, and
// may go into debt. Who is in debt waits until the bucket is empty but not owing, which is what
// Kafka's delay, (rate - limit) / limit * window, comes to; but a debt is not forgotten when the
// window has passed, so waits may be capped without the rate growing.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/catalog/client_quotas.h"
#include "io/core_io.h"

namespace weir::handlers {

class Request;
struct Context;

// Clients give up on a request after 30 s (request.timeout.ms), and what waits is a request.
inline constexpr int64_t kThrottleMsMax = 20'000;
// Kafka bounds waits for request time by one window of a second.
inline constexpr int64_t kRequestThrottleMsMax = 1'000;
// Debts beyond what the quota allows in this time are let off.
inline constexpr double kDebtSecondsMax = 600;
// Buckets of one core; at this many, full ones are forgotten, and of the others all but half of it.
inline constexpr size_t kQuotaBucketsMax = 10'000;
// What a request takes of a core beside its handler: receiving, framing, sending. An estimate;
// charged before it starts.
inline constexpr int64_t kRequestCost_ns = 10'000;

// Bytes a second of a quota; of request time, nanoseconds of a core a second.
double units_per_second(catalog::QuotaKind kind, double limit);

// To port kQuota of the bucket's home core.
class QuotaCharge : public io::Message {
 public:
  // in
  catalog::QuotaKind kind = catalog::QuotaKind::produce;
  std::string bucket;
  double rate = 0;      // units a second
  double capacity = 0;  // units in a window
  double amount = 0;    // units
  // Whether a client that would go into debt is refused, and charged nothing. One whose bucket is
  // full is not: it could never have more.
  bool may_refuse = false;
  // out
  bool refused = false;
  int32_t throttle_ms = 0;

  // Fills in the quota that holds for the request's client; false when there is none.
  bool prepare(const Request& request, catalog::QuotaKind its_kind);
  void send(Context& context);
};

// One core's buckets.
class QuotaBuckets {
 public:
  explicit QuotaBuckets(io::CoreIo& io);
  QuotaBuckets(const QuotaBuckets&) = delete;
  QuotaBuckets& operator=(const QuotaBuckets&) = delete;

  void charge(QuotaCharge& charge);
  size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double left = 0;    // units; negative: debt
    double rate = 0;    // of the last charge
    double capacity = 0;
    io::Instant filled_at;
  };

  void on_charge(io::Message& message);
  Bucket& bucket_of(const QuotaCharge& charge);
  void fill(Bucket& bucket) const;
  void make_room();

  io::CoreIo& io_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace weir::handlers
