#include "io/base/heap.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace weir::base {

void out_of_memory(size_t size) {
  char line[128];
  const int length =
      size == 0 ? std::snprintf(line, sizeof line, "weir: out of memory\n")
                : std::snprintf(line, sizeof line, "weir: out of memory: no %zu bytes\n", size);
  // Nothing can be done for a line that is not taken either.
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, line, static_cast<size_t>(length));
  ::_exit(kExitOutOfMemory);
}

void end_when_out_of_memory() {
  std::set_new_handler([] { out_of_memory(0); });
}

std::byte* allocate_aligned(size_t alignment, size_t size) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (memory == nullptr) out_of_memory(size);
  return memory;
}

}  // namespace weir::base
