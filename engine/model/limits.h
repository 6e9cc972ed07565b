#pragma once
// Every maximum of the system that more than one folder must agree on, with the relations asserted.
// Maxima of the wire format alone are in engine/wire/limits.h.

#include <cstddef>
#include <cstdint>

#include "io/base/units.h"

namespace weir::model {

using base::operator""_KiB;
using base::operator""_MiB;
using base::operator""_GiB;

// --- names
// ----------------------------------------------------------------------------------------

inline constexpr size_t kTopicNameSizeMax = 249;  // Kafka's; leaves room for suffixes of file names
inline constexpr size_t kFileNameSizeMax = 255;   // of every file system we run on
inline constexpr size_t kSettingValueSizeMax = 32'767;
static_assert(kTopicNameSizeMax + 6 <= kFileNameSizeMax);

// --- topics and partitions
// ------------------------------------------------------------------------

inline constexpr int32_t kPartitionsPerTopicMax = 10'000;
inline constexpr int32_t kPartitionsPerRequestMax = 10'000;  // Kafka: POLICY_VIOLATION above
inline constexpr int64_t kPartitionsMax = 200'000;
inline constexpr size_t kTopicsMax = 100'000;
static_assert(kPartitionsPerTopicMax <= kPartitionsPerRequestMax);
static_assert(kPartitionsPerRequestMax <= kPartitionsMax);
static_assert(kTopicsMax <= static_cast<size_t>(kPartitionsMax));

// --- catalog
// --------------------------------------------------------------------------------------

inline constexpr size_t kCatalogBatchChangesMax = 256;   // changes in one record of the log
inline constexpr size_t kCatalogRecordSizeMax = 64_MiB;  // refused when a length says more
inline constexpr size_t kCatalogFileSizeMax = 1_GiB;
inline constexpr size_t kCatalogQueueMax = 65'536;    // changes that wait at core 0
inline constexpr size_t kOverridesPerTopicMax = 128;  // more than there are settings
inline constexpr size_t kOverridesSizeMax = 128_KiB;  // all values of one topic together
inline constexpr int64_t kProducerIdBlockSize = 1'000;
inline constexpr size_t kClientQuotasMax = 10'000;  // entities that have quotas
inline constexpr size_t kGroupConfigsMax = 10'000;  // groups that have settings of their own
inline constexpr size_t kMetaFileSizeMax = 64_KiB;
static_assert(kOverridesSizeMax >= 3 * kSettingValueSizeMax);
static_assert(kCatalogBatchChangesMax * (kOverridesSizeMax + kOverridesPerTopicMax * 256 + 1024) <=
              kCatalogRecordSizeMax);
static_assert(kCatalogRecordSizeMax <= kCatalogFileSizeMax);

}  // namespace weir::model
