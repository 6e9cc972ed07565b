#pragma once
// What happens when the heap refuses. Limits keep that from happening; where it happens all the
// same nothing sensible can go on, and nothing that was acknowledged depends on this process: it
// ends at once, like one that is killed, with a line that says so and an exit code of its own.

#include <cstddef>

namespace weir::base {

inline constexpr int kExitOutOfMemory = 71;  // EX_OSERR

[[noreturn]] void out_of_memory(size_t size);

// Has operator new end the process in this way. Once, before there are threads.
void end_when_out_of_memory();

// Never null; given back by std::free(). `size` is a multiple of `alignment`.
std::byte* allocate_aligned(size_t alignment, size_t size);

}  // namespace weir::base
