#include "io/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "io/base/assert.h"
#include "io/base/units.h"

namespace weir::base {

std::byte* map_huge(size_t size) {
  // The kernel aligns to a page only: map more, give back both ends.
  const size_t mapped = size + kHugePageSize;
  void* const start =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(start);
  const size_t skipped = round_up(reinterpret_cast<uintptr_t>(begin), kHugePageSize) -
                         reinterpret_cast<uintptr_t>(begin);
  std::byte* const memory = begin + skipped;
  const size_t end = round_up(skipped + size, 4_KiB);
  if (skipped > 0) unmap_huge(begin, skipped);
  if (end < mapped) unmap_huge(begin + end, mapped - end);
  madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void unmap_huge(std::byte* memory, size_t size) {
  const int status = munmap(memory, round_up(size, 4_KiB));
  ASSERT(status == 0, "munmap of {} bytes", size);
}

}  // namespace weir::base
