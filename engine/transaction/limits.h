#pragma once
// Every maximum of the transaction coordinator.

#include <cstddef>
#include <cstdint>

namespace weir::transaction {

// Of one core. Past it new ids are refused, known ones go on.
inline constexpr size_t kTransactionalIdsPerCoreMax = 500'000;

// Of one transaction; with topic names of the longest kind the record stays below 32 MiB.
inline constexpr size_t kPartitionsPerTransactionMax = 100'000;

// Ids looked at in one turn when timeouts and ages are checked; the loop serves others between.
inline constexpr size_t kSweepSlice = 256;

// Markers that could not be written are tried again after this long.
inline constexpr int64_t kMarkerRetry_ns = 1'000'000'000;

// Scratch memory of one record or decoded value.
inline constexpr size_t kScratchSizeMax = size_t{64} << 20;

// The last epoch a producer is given; the one above it is for fencing only.
inline constexpr int16_t kProducerEpochMax = INT16_MAX - 1;

}  // namespace weir::transaction
