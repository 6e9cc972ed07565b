#include "engine/catalog/catalog_store.h"

#include <fmt/format.h>

#include <cerrno>

#include "engine/model/limits.h"
#include "io/base/bytes.h"
#include "io/base/logging.h"

namespace weir::catalog {
namespace {

// A log is rewritten at start when less than half of it is alive, and it is worth the trouble.
constexpr uint64_t kCompactionSizeMin = 64 * 1024;

LogId random_log_id(io::Random& random) {
  LogId id;
  base::store_le(id.data(), random.next());
  base::store_le(id.data() + 8, random.next());
  return id;
}

// Rewrites the log with what is alive. Where there is no space for it, the old file stays in use
// (F19).
base::Status compact(FileIo& files, io::Random& random, LogContent& content, uint64_t old_size) {
  const auto bytes = encode_log(random_log_id(random), content.tail.sequence, content.image);
  if (old_size < kCompactionSizeMin || old_size < 2 * bytes.size()) return {};
  const auto replaced = files.replace(kCatalogFileName, bytes);
  const int code = replaced ? 0 : replaced.error().code;
  if (code != 0 && code != ENOSPC && code != EDQUOT) return replaced;
  if (code != 0) base::log_warning("catalog", "not compacted: {}", replaced.error().detail);
  // Read again rather than reasoned about: an error may have come after the rename.
  TRY(const auto current, files.read(kCatalogFileName, model::kCatalogFileSizeMax));
  TRY(content, read_log(current, files.path(kCatalogFileName)));
  base::log_info("catalog", "compacted size={} before={}", current.size(), old_size);
  return {};
}

base::Result<LogContent> create(FileIo& files, io::Random& random) {
  const auto bytes = encode_log(random_log_id(random), 1, {});
  CHECK_OK(files.replace(kCatalogFileName, bytes));
  return read_log(bytes, files.path(kCatalogFileName));
}

base::Result<LogContent> load(FileIo& files, io::Random& random, IfMissing if_missing) {
  const auto bytes = files.read(kCatalogFileName, model::kCatalogFileSizeMax);
  if (!bytes && bytes.error().code == ENOENT) {
    if (if_missing == IfMissing::create) return create(files, random);
    return base::error(
        ENOENT,
        fmt::format("{} is missing, but this directory has one according to meta.json. Restore "
                    "it from a copy, or move the whole directory away to start empty",
                    files.path(kCatalogFileName)));
  }
  if (!bytes) return std::unexpected(bytes.error());
  CHECK_OK(files.settle(kCatalogFileName));
  TRY(const auto settled, files.read(kCatalogFileName, model::kCatalogFileSizeMax));
  TRY(LogContent content, read_log(settled, files.path(kCatalogFileName)));
  if (content.valid_size < settled.size()) {
    base::log_warning("catalog", "cut torn end at={} size={}", content.valid_size, settled.size());
    TRY(const io::FileId file, files.open(kCatalogFileName, {}));
    const auto truncated = files.truncate_and_sync(file, content.valid_size);
    CHECK_OK(files.close(file));
    CHECK_OK(truncated);
  }
  CHECK_OK(compact(files, random, content, content.valid_size));
  return content;
}

}  // namespace

base::Result<CatalogStore> open_catalog(FileIo& files, io::Random& random, IfMissing if_missing) {
  TRY(LogContent content, load(files, random, if_missing));
  // What a compaction that crashed has left; the log itself never has this name.
  CHECK_OK(files.remove(std::string(kCatalogFileName) + ".new"));
  TRY(const io::FileId file, files.open(kCatalogFileName, {.locked = true}));
  return CatalogStore{.file = file, .tail = content.tail, .image = std::move(content.image)};
}

base::Uuid random_uuid(io::Random& random) {
  base::Uuid uuid;
  do {
    base::store_le(uuid.bytes.data(), random.next());
    base::store_le(uuid.bytes.data() + 8, random.next());
    // Kafka keeps 0 and 0...1 for itself; a leading '-' would be taken for an option by its tools.
  } while (base::load_le<uint64_t>(uuid.bytes.data()) == 0 || uuid.text()[0] == '-');
  return uuid;
}

}  // namespace weir::catalog
