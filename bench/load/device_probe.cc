#include "bench/load/device_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/load/times.h"
#include "io/base/random.h"

namespace weir::load {
namespace {

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// The file has no name once it is open.
class ProbeFile {
 public:
  explicit ProbeFile(const std::string& directory)
      : path_(fmt::format("{}/weir-probe-{}", directory, ::getpid())) {
    constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
    descriptor_ = ::open(path_.c_str(), kFlags | O_DIRECT, 0600);
    if (descriptor_ < 0 && errno == EINVAL) {
      direct_ = false;
      ::unlink(path_.c_str());
      descriptor_ = ::open(path_.c_str(), kFlags, 0600);
    }
    error_ = errno;
    if (descriptor_ >= 0) ::unlink(path_.c_str());
  }
  ~ProbeFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] bool direct() const { return direct_; }
  [[nodiscard]] std::string error() const {
    return fmt::format("cannot write {}: {}", path_, std::strerror(error_));
  }
  bool write(std::byte* from, size_t size, size_t position) {
    const iovec vector{.iov_base = from, .iov_len = size};
    const ssize_t written =
        ::pwritev2(descriptor_, &vector, 1, static_cast<off_t>(position), RWF_DSYNC);
    error_ = written < 0 ? errno : EIO;
    return written == static_cast<ssize_t>(size);
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  int error_ = 0;
  bool direct_ = true;
};

}  // namespace

size_t probe_write_size(size_t batch_size) {
  const size_t blocks = (batch_size + kProbeWriteSizeMin - 1) / kProbeWriteSizeMin;
  return std::clamp(blocks * kProbeWriteSizeMin, kProbeWriteSizeMin, kProbeWriteSizeMax);
}

base::Result<ProbeResult> probe_device(const std::string& directory, size_t write_size,
                                       int64_t duration_ms) {
  if (write_size != probe_write_size(write_size)) {
    return base::error(EINVAL, fmt::format("no write size to probe: {}", write_size));
  }
  ProbeFile file(directory);
  if (!file.is_open()) return base::error(EIO, file.error());
  const std::unique_ptr<std::byte, FreeMemory> memory(
      static_cast<std::byte*>(std::aligned_alloc(kProbeWriteSizeMin, kProbeWriteSizeMax)));
  if (!memory) return base::error(ENOMEM, "no memory for the device probe");
  base::RandomStream random(1, "probe");
  for (size_t i = 0; i < kProbeWriteSizeMax; i += sizeof(uint64_t)) {
    const uint64_t word = random.next();
    std::memcpy(memory.get() + i, &word, sizeof word);
  }
  for (size_t position = 0; position < kProbeFileSize; position += kProbeWriteSizeMax) {
    if (!file.write(memory.get(), kProbeWriteSizeMax, position)) {
      return base::error(EIO, file.error());
    }
  }
  ProbeResult result{.write_size = write_size, .latency = {}, .direct = file.direct()};
  const int64_t begin_ns = now_ns();
  const int64_t end_ns = begin_ns + duration_ms * 1'000'000;
  int64_t before_ns = begin_ns;
  size_t position = 0;
  while (before_ns < end_ns) {
    if (position + write_size > kProbeFileSize) position = 0;
    if (!file.write(memory.get(), write_size, position)) return base::error(EIO, file.error());
    position += write_size;
    const int64_t after_ns = now_ns();
    result.latency.add(after_ns - before_ns);
    before_ns = after_ns;
  }
  const double seconds = static_cast<double>(before_ns - begin_ns) * 1e-9;
  result.mb_per_second =
      static_cast<double>(result.latency.count() * write_size) / 1e6 / std::max(seconds, 1e-9);
  return result;
}

}  // namespace weir::load
