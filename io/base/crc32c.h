#pragma once
// CRC-32C (Castagnoli) as Kafka uses it: initial value all ones, final complement.

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::base {

// The checksum of `data`, or of what came before followed by `data`.
uint32_t crc32c(std::span<const std::byte> data, uint32_t previous = 0);

// The checksum of A followed by B, from the checksums of A and of B and the size of B in bytes.
// Costs O(log size_b) and touches no data: sums of batches become sums of groups without a second
// pass over the bytes.
uint32_t crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b);

}  // namespace weir::base
