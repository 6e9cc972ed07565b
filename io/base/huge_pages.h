#pragma once
// Memory in huge pages. A write of 256 KiB from it is one piece to the device where 4 KiB pages
// would be 64, and devices take a bounded number of pieces at once (virtio without indirect
// descriptors: 256 in all, so three such writes fill the queue).

#include <cstddef>

namespace weir::base {

inline constexpr size_t kHugePageSize = size_t{2} << 20;

// `size` bytes at a multiple of kHugePageSize; zeros. A kernel without huge pages, or out of them,
// gives ordinary pages. nullptr: no memory. Given back by unmap_huge() with the same size.
std::byte* map_huge(size_t size);
void unmap_huge(std::byte* memory, size_t size);

}  // namespace weir::base
