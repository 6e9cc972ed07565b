// weir dump: chooses by the name of the file.

#include "tools/weir/dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "engine/catalog/catalog_log.h"
#include "engine/catalog/node_identity.h"
#include "engine/log/file_names.h"
#include "tools/weir/commands.h"
#include "tools/weir/failure.h"
#include "tools/weir/verify.h"

namespace weir::tools {
namespace {

constexpr size_t kPrintedSizeMax = 120;
constexpr uint64_t kWholeFileSizeMax = uint64_t{1} << 30;
constexpr int kExitDamaged = 3;
constexpr int kExitFindings = 1;

struct Options {
  std::vector<std::string> files;
  bool verify = false;
  DumpOptions dump;
};

int dump_one(const std::string& path, const DumpOptions& options) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (name == catalog::kCatalogFileName) return dump_catalog(path);
  if (name == catalog::kMetaFileName) return dump_meta(path);
  if (name == log::kProducerSnapshotName) return dump_producer_snapshot(path);
  if (name.ends_with(log::kLogSuffix)) return dump_segment(path, options);
  if (name.ends_with(log::kLedgerSuffix)) return dump_ledger(path);
  if (name.ends_with(".journal")) return dump_journal(path, options);
  fail_usage("{}: no file of Weir by its name; known are *.log, *.ledger, *.journal, {}, {}, {}",
             path, log::kProducerSnapshotName, catalog::kCatalogFileName, catalog::kMetaFileName);
}

int run(const Options& options) {
  if (options.verify && options.files.size() != 1) {
    fail_usage("--verify takes one data directory");
  }
  if (options.verify) return verify_directory(options.files.front()) == 0 ? 0 : kExitFindings;
  int damaged = 0;
  for (const std::string& path : options.files) {
    if (options.files.size() > 1) fmt::print("== {}\n", path);
    damaged += dump_one(path, options.dump);
  }
  if (damaged > 0) {
    fmt::print("DAMAGED in {} place{}\n", damaged, damaged == 1 ? "" : "s");
    return kExitDamaged;
  }
  return 0;
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info {};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) fail("{}: {}", path, std::strerror(errno));
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::span<const std::byte> InputFile::read(uint64_t position, size_t size) {
  if (position >= size_) return {};
  size = static_cast<size_t>(std::min<uint64_t>(size, size_ - position));
  const bool inside =
      position >= window_begin_ && position + size <= window_begin_ + window_.size();
  if (!inside) {
    window_.resize(
        static_cast<size_t>(std::min<uint64_t>(std::max(size, kWindow), size_ - position)));
    window_begin_ = position;
    size_t used = 0;
    while (used < window_.size()) {
      const ssize_t got = ::pread(fd_, window_.data() + used, window_.size() - used,
                                  static_cast<off_t>(position + used));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("{} at {}: {}", path_, position + used, std::strerror(errno));
      if (got == 0) break;  // became shorter meanwhile
      used += static_cast<size_t>(got);
    }
    window_.resize(used);
    size = std::min(size, used);
  }
  return std::span<const std::byte>(window_).subspan(static_cast<size_t>(position - window_begin_),
                                                     size);
}

std::vector<std::byte> InputFile::read_all() {
  if (size_ > kWholeFileSizeMax) fail("{}: larger than {} bytes", path_, kWholeFileSizeMax);
  const auto bytes = read(0, static_cast<size_t>(size_));
  return {bytes.begin(), bytes.end()};
}

bool InputFile::is_zero_from(uint64_t position) {
  while (position < size_) {
    const auto bytes = read(position, kWindow);
    if (bytes.empty()) return true;
    if (!std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) return false;
    position += bytes.size();
  }
  return true;
}

std::string printable(std::span<const std::byte> bytes) {
  std::string text = "\"";
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kPrintedSizeMax))) {
    const auto c = static_cast<unsigned char>(byte);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += static_cast<char>(c);
    } else if (c >= 0x20 && c < 0x7f) {
      text += static_cast<char>(c);
    } else {
      text += fmt::format("\\x{:02x}", c);
    }
  }
  text += '"';
  if (bytes.size() > kPrintedSizeMax) text += fmt::format("... ({} bytes)", bytes.size());
  return text;
}

void add_dump(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "dump", "Files of a data directory as text, damage marked (exit code 3)");
  command->add_option("file", options->files,
                      "*.log, *.ledger, *.journal, producers.snapshot, catalog.log, meta.json; "
                      "with --verify a data directory")
      ->required();
  command->add_flag("--verify", options->verify,
                    "Check everything in a data directory whose broker is stopped: one line for "
                    "each finding, exit code 1 when there are any, 2 when it cannot be checked");
  command->add_flag("--records", options->dump.details,
                    "Also the records of each batch, the entries of each journal record");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weir::tools
