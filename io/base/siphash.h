#pragma once
// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash. Who does not
// know the key cannot find two inputs with one digest, and by chance there are none. Little-endian.

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::base {

struct SipKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

struct Digest128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Digest128&) const = default;
};

Digest128 siphash128(const SipKey& key, std::span<const std::byte> bytes);

}  // namespace weir::base
