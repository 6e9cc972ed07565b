#include "io/uring/receive_buffers.h"

#include <sys/mman.h>

#include <cerrno>

#include "io/base/logging.h"
#include "io/errors.h"

namespace weir::io::uring {

namespace {

constexpr size_t kEntriesSize = ReceiveBuffers::kCount * sizeof(io_uring_buf);

void* map(size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT(memory != MAP_FAILED, "out of memory: {} bytes of receive buffers", size);
  return memory;
}

}  // namespace

ReceiveBuffers::ReceiveBuffers(Ring& ring) {
  memory_ = static_cast<std::byte*>(map(kCount * kSize));
  if (!ring.features().buffer_ring) return;
  auto* const entries = static_cast<io_uring_buf_ring*>(map(kEntriesSize));
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<uintptr_t>(entries);
  registration.ring_entries = kCount;
  registration.bgid = kGroup;
  if (const int code = io_uring_register_buf_ring(&ring.raw(), &registration, 0); code != 0) {
    base::log_info("io", "receive buffers not registered error={}", errno_name(-code));
    munmap(entries, kEntriesSize);
    return;
  }
  entries_ = entries;
  io_uring_buf_ring_init(entries_);
  for (uint16_t i = 0; i < kCount; ++i) give_back(i);
}

ReceiveBuffers::~ReceiveBuffers() {
  if (entries_ != nullptr) munmap(entries_, kEntriesSize);
  munmap(memory_, kCount * kSize);
}

void ReceiveBuffers::give_back(uint16_t index) {
  io_uring_buf_ring_add(entries_, buffer(index).data(), kSize, index,
                        io_uring_buf_ring_mask(kCount), 0);
  io_uring_buf_ring_advance(entries_, 1);
}

}  // namespace weir::io::uring
