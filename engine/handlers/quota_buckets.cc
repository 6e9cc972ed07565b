#include "engine/handlers/quota_buckets.h"

#include <algorithm>
#include <cmath>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using catalog::QuotaKind;

namespace {

// Kafka's name for who has not logged in.
constexpr std::string_view kAnonymousUser = "ANONYMOUS";

constexpr double kNsPerSecond = 1e9;

io::CoreIndex home_of(std::string_view bucket, uint16_t core_count) {
  return io::CoreIndex(
      static_cast<uint16_t>(std::hash<std::string_view>{}(bucket) % core_count));
}

int32_t wait_ms(QuotaKind kind, double missing, double rate) {
  if (missing <= 0) return 0;
  const auto max_ms = kind == QuotaKind::request ? kRequestThrottleMsMax : kThrottleMsMax;
  return static_cast<int32_t>(
      std::min(std::ceil(missing / rate * 1000), static_cast<double>(max_ms)));
}

}  // namespace

double units_per_second(QuotaKind kind, double limit) {
  return kind == QuotaKind::request ? limit / 100 * kNsPerSecond : limit;
}

bool QuotaCharge::prepare(const Request& request, QuotaKind its_kind) {
  const Context& context = request.context();
  const catalog::ClientQuotas& quotas = context.catalog.client_quotas();
  if (quotas.empty()) return false;
  const auto quota =
      catalog::find_quota(quotas, its_kind, kAnonymousUser, request.client_id());
  if (!quota) return false;
  kind = its_kind;
  rate = units_per_second(kind, quota->limit);
  capacity = rate * context.config.quota_window_num * context.config.quota_window_seconds;
  bucket = catalog::quota_key(kind);
  bucket += '/';
  if (quota->per_user) bucket += kAnonymousUser;
  bucket += quota->per_client_id ? "/" : "-";
  if (quota->per_client_id) bucket += request.client_id();
  return true;
}

void QuotaCharge::send(Context& context) {
  context.io.mailboxes.send(home_of(bucket, context.io.core_count), model::ports::kQuota, *this);
}

QuotaBuckets::QuotaBuckets(io::CoreIo& io) : io_(io) {
  io.mailboxes.listen<&QuotaBuckets::on_charge>(model::ports::kQuota, *this);
}

void QuotaBuckets::on_charge(io::Message& message) {
  auto& request = static_cast<QuotaCharge&>(message);
  charge(request);
  io_.mailboxes.reply(request);
}

void QuotaBuckets::charge(QuotaCharge& charge) {
  Bucket& bucket = bucket_of(charge);
  const bool full = bucket.left >= bucket.capacity;
  charge.refused = charge.may_refuse && charge.amount > bucket.left && !full;
  if (charge.refused) {
    const double wanted = std::min(charge.amount, bucket.capacity);
    charge.throttle_ms = std::max(wait_ms(charge.kind, wanted - bucket.left, bucket.rate), 1);
    return;
  }
  bucket.left = std::max(bucket.left - charge.amount, -bucket.rate * kDebtSecondsMax);
  charge.throttle_ms = wait_ms(charge.kind, -bucket.left, bucket.rate);
}

// A changed quota holds from the next charge on; what was used under the old one stays used.
QuotaBuckets::Bucket& QuotaBuckets::bucket_of(const QuotaCharge& charge) {
  if (buckets_.size() >= kQuotaBucketsMax && !buckets_.contains(charge.bucket)) make_room();
  const auto [found, is_new] = buckets_.try_emplace(charge.bucket);
  Bucket& bucket = found->second;
  if (is_new) {
    bucket.left = charge.capacity;
    bucket.filled_at = io_.clock.now();
  } else {
    fill(bucket);
  }
  bucket.rate = charge.rate;
  bucket.capacity = charge.capacity;
  bucket.left = std::min(bucket.left, bucket.capacity);
  return bucket;
}

void QuotaBuckets::fill(Bucket& bucket) const {
  const io::Instant now = io_.clock.now();
  const double seconds = static_cast<double>(now - bucket.filled_at) / kNsPerSecond;
  bucket.left = std::min(bucket.left + seconds * bucket.rate, bucket.capacity);
  bucket.filled_at = now;
}

// Clients choose their ids, so they must not choose how much memory is used.
void QuotaBuckets::make_room() {
  for (auto& [name, bucket] : buckets_) fill(bucket);
  std::erase_if(buckets_, [](const auto& entry) {
    return entry.second.left >= entry.second.capacity;
  });
  // Half of them, so that not every new bucket costs a look at all.
  while (buckets_.size() > kQuotaBucketsMax / 2) buckets_.erase(buckets_.begin());
}

}  // namespace weir::handlers
