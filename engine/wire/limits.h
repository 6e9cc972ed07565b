#pragma once
// Every maximum of the wire layer. Each is checked before anything is allocated or looped over.

#include <cstddef>
#include <cstdint>

namespace weir::wire {

// Most elements of one array. The bytes left in the request bound it first; this bounds the arena.
inline constexpr int32_t kArrayCountMax = 1'000'000;

// Kafka's own limit, also for compact strings.
inline constexpr size_t kStringSizeMax = 32'767;

// Tagged fields in one struct, known and unknown; Kafka's messages define at most four.
inline constexpr uint32_t kTaggedFieldCountMax = 1'024;

// Decoding a body of n bytes takes at most this times n bytes from the arena: elements of arrays
// are larger in memory than on the wire, but a count is believed only as far as bytes are there.
inline constexpr size_t kArenaBytesPerBodyByteMax = 128;

// Most bytes of one frame after its length field that a response may have.
inline constexpr size_t kFrameSizeMax = INT32_MAX;

// The printer shows this many elements of an array, and bytes of a string.
inline constexpr size_t kPrintedElementsMax = 16;
inline constexpr size_t kPrintedStringSizeMax = 128;

static_assert(kStringSizeMax == INT16_MAX);
static_assert(kArrayCountMax < INT32_MAX / 256, "count * sizeof(element) stays far from overflow");

}  // namespace weir::wire
