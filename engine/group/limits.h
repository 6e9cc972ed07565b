#pragma once
// Every maximum of the group coordinator. Each is tested on both sides (RELIABILITY rule 11, F30).

#include <cstddef>
#include <cstdint>

namespace weir::group {

// Of one core. Past it new groups are refused, known ones go on.
inline constexpr size_t kGroupsPerCoreMax = 100'000;

// Members of one group and, counted apart, ids given out and not yet used; group.max.size may be
// lower.
inline constexpr int32_t kMembersPerGroupMax = 16'384;

// What one member may bring: names of protocols, and their metadata together.
inline constexpr size_t kProtocolsPerMemberMax = 64;
inline constexpr size_t kMemberMetadataSizeMax = size_t{1} << 20;

// What one leader may hand out, all members together; with the metadata it makes one record.
inline constexpr size_t kAssignmentsSizeMax = size_t{16} << 20;
inline constexpr size_t kGroupMetadataSizeMax = size_t{16} << 20;

// What one member of a consumer group (KIP-848) may say: its id, topics it names, a regular
// expression, topics and partitions it lists as its own.
inline constexpr size_t kMemberIdSizeMax = 1024;
inline constexpr size_t kSubscribedTopicsMax = 10'000;
inline constexpr size_t kRegexSizeMax = 4096;
inline constexpr size_t kOwnedPartitionsMax = 100'000;
inline constexpr size_t kRegexesPerGroupMax = 256;

// Memory a compiled regular expression may take, and that of its matching.
inline constexpr int64_t kRegexMemoryMax = int64_t{1} << 20;

// Longest time between two assignments that may be set.
inline constexpr int32_t kAssignmentIntervalMsMax = 15'000;

// Steps of the search for the most even distribution, where subscriptions differ: about 50 ms.
inline constexpr size_t kAssignorWorkMax = 10'000'000;

// Groups, members and committed offsets of one core, estimated. Past it whatever would grow them is
// refused.
inline constexpr size_t kMemorySizeMax = size_t{512} << 20;

// Estimated cost of one of each besides the texts and bytes it holds.
inline constexpr size_t kGroupCost = 1024;
inline constexpr size_t kMemberCost = 768;
inline constexpr size_t kPendingMemberCost = 320;
inline constexpr size_t kOffsetCost = 192;
inline constexpr size_t kTextCost = 64;

// A batch of the group log is closed before a write that would take it over this; one write stays
// in one batch, however large.
inline constexpr size_t kLogBatchSizeMax = size_t{512} << 10;

// Groups looked at in one turn when offsets expire; the loop serves others between slices.
inline constexpr size_t kExpirySliceGroups = 256;

// Scratch memory of one record or decoded value.
inline constexpr size_t kScratchSizeMax = size_t{64} << 20;

static_assert(kMemberMetadataSizeMax <= kGroupMetadataSizeMax);
static_assert(kScratchSizeMax >= kGroupMetadataSizeMax + kAssignmentsSizeMax);
static_assert(kMemorySizeMax >= kGroupMetadataSizeMax + kAssignmentsSizeMax);
static_assert(kGroupsPerCoreMax * kGroupCost < kMemorySizeMax);

}  // namespace weir::group
