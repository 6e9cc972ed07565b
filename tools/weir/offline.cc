#include "tools/weir/offline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>

#include "engine/catalog/catalog.h"
#include "engine/catalog/file_io.h"
#include "engine/log/file_names.h"
#include "engine/weir.h"
#include "io/base/logging.h"
#include "tools/weir/failure.h"
#include "tools/weir/shadow_disk.h"

namespace weir::tools {
namespace {

constexpr size_t kMetaSizeMax = size_t{1} << 20;
constexpr size_t kCatalogSizeMax = size_t{1} << 30;

// The lock of the directory as a reader takes it: the broker that holds it is named, nothing is
// written.
class LookLock {
 public:
  explicit LookLock(const std::string& data)
      : descriptor_(::open((data + "/lock").c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) return;  // never started, or copied without it
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    char text[32] = {};
    const ssize_t size = ::pread(descriptor_, text, sizeof text - 1, 0);
    std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    ::close(descriptor_);
    fail_usage("data directory {} is in use by process {}: stop the broker first", data,
               holder.empty() ? "(unknown)" : holder);
  }
  ~LookLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LookLock(const LookLock&) = delete;
  LookLock& operator=(const LookLock&) = delete;

 private:
  int descriptor_;
};

// Exceptions end here, for none may cross the loop.
class Work final : public io::Platform::CoreMain {
 public:
  Work(Access access, const std::function<void(io::CoreIo&)>& work)
      : access_(access), work_(work) {}

  void on_core_start(io::CoreIo& core) override {
    try {
      if (access_ == Access::change) {
        work_(core);
      } else {
        ShadowDisk shadow(core.loop);
        io::CoreIo shadowed{.index = core.index,
                            .core_count = core.core_count,
                            .loop = core.loop,
                            .disk = shadow,
                            .network = core.network,
                            .clock = core.clock,
                            .mailboxes = core.mailboxes,
                            .random = core.random};
        work_(shadowed);
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    core.loop.stop();
  }
  void on_stop_request(io::CoreIo&) override {}
  void on_core_stop(io::CoreIo&) override {}
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Access access_;
  const std::function<void(io::CoreIo&)>& work_;
  std::exception_ptr failure_;
};

}  // namespace

std::string normal_path(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

void run_offline(const std::string& data, Access access,
                 const std::function<void(io::CoreIo&)>& work) {
  if (!std::filesystem::is_directory(data)) fail_usage("{} is no directory", data);
  base::set_log_level(base::LogLevel::off);
  auto platform = make_platform(broker::IoBackend::posix, 1);
  if (!platform) fail("{}", platform.error().detail);
  std::unique_ptr<LookLock> look_lock;
  if (access == Access::look) {
    look_lock = std::make_unique<LookLock>(data);
  } else if (const auto locked = (*platform)->lock(data, 0); !locked) {
    fail_usage("{}: stop the broker first", locked.error().detail);
  }
  Work main(access, work);
  if (const auto ran = (*platform)->run(main); !ran) fail("{}", ran.error().detail);
  main.rethrow();
}

base::Result<catalog::Meta> read_meta(io::CoreIo& core, const std::string& data) {
  catalog::FileIo files(core.loop, core.disk, data);
  TRY(const auto bytes, files.read(catalog::kMetaFileName, kMetaSizeMax));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return catalog::decode_meta(text, files.path(catalog::kMetaFileName));
}

base::Result<catalog::LogContent> read_catalog(io::CoreIo& core, const std::string& data) {
  catalog::FileIo files(core.loop, core.disk, data);
  TRY(const auto bytes, files.read(catalog::kCatalogFileName, kCatalogSizeMax));
  return catalog::read_log(bytes, files.path(catalog::kCatalogFileName));
}

DataDirectory describe_directory(const std::string& data, const catalog::Meta& meta,
                                 const catalog::CatalogImage& image) {
  DataDirectory all{.path = data, .meta = meta, .image = image, .known = {}, .shown = {}};
  const catalog::Settings settings;
  const catalog::Catalog catalog(settings, 1, image);
  for (const catalog::Topic& topic : catalog.topics()) {
    for (int32_t i = 0; i < topic.partition_count; ++i) {
      const model::PartitionKey key{topic.serial, model::PartitionIndex(i)};
      all.known.emplace(key, log::partition_directory(data, topic.name, key));
      all.shown.emplace(key, fmt::format("{}-{}", topic.name, i));
    }
  }
  return all;
}

base::Result<RecoveredPartitions> recover(io::CoreIo& core, const DataDirectory& directory) {
  partition::Recovery recovery(core, directory.known);
  const auto generation = static_cast<uint64_t>(directory.meta.journal_generation);
  for (int32_t i = 0; i < directory.meta.journal_core_count; ++i) {
    const auto index = static_cast<uint32_t>(i);
    CHECK_OK(recovery.replay(log::journal_file(directory.path, index, generation), generation,
                             index));
  }
  TRY(auto found, recovery.finish());
  CHECK_OK(recovery.check_age(directory.meta.incarnation));
  return found;
}

}  // namespace weir::tools
