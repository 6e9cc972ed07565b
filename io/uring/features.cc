#include "io/uring/features.h"

#include <fmt/format.h>
#include <liburing.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "io/base/logging.h"
#include "io/disk.h"
#include "io/errors.h"
#include "io/uring/compat.h"

namespace weir::io::uring {

namespace {

constexpr unsigned kProbeEntries = 8;

// Below these (Linux 5.11) the loop cannot sleep with a deadline or would lose completions.
constexpr uint32_t kRequired =
    IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL | IORING_FEAT_EXT_ARG;

struct SetupStep {
  uint32_t flags;
  bool Denied::*denied;
  const char* name;
};

// From the best to the plainest.
constexpr std::array kSetupSteps = {
    SetupStep{IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                  IORING_SETUP_SUBMIT_ALL,
              &Denied::defer_taskrun, "SINGLE_ISSUER|DEFER_TASKRUN"},
    SetupStep{IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
              &Denied::coop_taskrun, "COOP_TASKRUN"},
    SetupStep{0, nullptr, "plain"},
};

std::unexpected<base::Error> refused(int code) {
  const char* remedy = "";
  if (code == EPERM) remedy = ": allow io_uring in the container's seccomp profile and in sysctl";
  if (code == ENOMEM) remedy = ": raise the limit of locked memory";
  return base::error(code, fmt::format("io_uring refused: {}{}", errno_name(code), remedy));
}

// Opens a small ring with the best flags allowed.
base::Result<uint32_t> open_best(io_uring& ring, const Denied& denied) {
  for (size_t i = 0; i < kSetupSteps.size(); ++i) {
    const SetupStep& step = kSetupSteps[i];
    int code = EINVAL;
    if (step.denied == nullptr || !(denied.*step.denied)) {
      io_uring_params parameters{};
      parameters.flags = step.flags;
      code = -io_uring_queue_init_params(kProbeEntries, &ring, &parameters);
    }
    if (code == 0) return step.flags;
    if (code != EINVAL || i + 1 == kSetupSteps.size()) return refused(code);
    base::log_info("io", "ring without {} next={}", step.name, kSetupSteps[i + 1].name);
  }
  UNREACHABLE();
}

bool buffer_ring_works(io_uring& ring) {
  void* const page =
      mmap(nullptr, kBlockSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<uintptr_t>(page);
  registration.ring_entries = 1;
  const bool works = io_uring_register_buf_ring(&ring, &registration, 0) == 0;
  if (works) io_uring_unregister_buf_ring(&ring, 0);
  munmap(page, kBlockSize);
  return works;
}

bool registered_ring_works(io_uring& ring) { return io_uring_register_ring_fd(&ring) == 1; }

// `works`, unless denied; says so when it does not.
bool decide(bool works, bool denied, const char* name, const char* instead) {
  if (works && !denied) return true;
  base::log_info("io", "ring without {} instead={}", name, instead);
  return false;
}

void probe_operations(io_uring& ring, const Denied& denied, Features& features) {
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring);
  const auto has = [probe](int operation) {
    return probe != nullptr && io_uring_opcode_supported(probe, operation) != 0;
  };
  const bool files = denied.file_operations;
  features.message_ring = decide(has(IORING_OP_MSG_RING) && (ring.features & IORING_FEAT_CQE_SKIP),
                                 denied.message_ring, "MSG_RING", "eventfd");
  features.renameat = decide(has(IORING_OP_RENAMEAT), files, "RENAMEAT", "renameat(2)");
  features.unlinkat = decide(has(IORING_OP_UNLINKAT), files, "UNLINKAT", "unlinkat(2)");
  features.mkdirat = decide(has(IORING_OP_MKDIRAT), files, "MKDIRAT", "mkdirat(2)");
  features.ftruncate = decide(has(kOpFtruncate), files, "FTRUNCATE", "ftruncate(2)");
  free(probe);  // NOLINT: from the library's malloc
}

}  // namespace

base::Result<Features> probe_features(const Denied& denied) {
  io_uring ring{};
  TRY(const uint32_t flags, open_best(ring, denied));
  Features features{.setup_flags = flags};
  if ((ring.features & kRequired) != kRequired) {
    const uint32_t given = ring.features;
    io_uring_queue_exit(&ring);
    return base::error(ENOSYS, fmt::format("io_uring too old: features {:#x}, needed {:#x} "
                                           "(Linux 5.11)",
                                           given, kRequired));
  }
  probe_operations(ring, denied, features);
  features.buffer_ring =
      decide(buffer_ring_works(ring), denied.buffer_ring, "buffer ring", "poll and recv(2)");
  features.registered_ring = decide(registered_ring_works(ring), denied.registered_ring,
                                    "registered descriptor", "descriptor");
  features.dsync = decide(true, denied.dsync, "RWF_DSYNC", "write, then fdatasync");
  features.direct = decide(true, denied.direct, "O_DIRECT", "buffered files");
  features.awaited_writes = decide(true, denied.awaited_writes, "awaited writes", "helper threads");
  io_uring_queue_exit(&ring);
  return features;
}

}  // namespace weir::io::uring
