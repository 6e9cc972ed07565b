// weir dump --verify: meta, catalog, journals, and which files there are.

#include "tools/weir/verify.h"

#include <algorithm>
#include <cerrno>
#include <map>

#include "engine/journal/replay.h"
#include "engine/log/file_names.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

constexpr std::string_view kNoStart = "the next start is refused";
constexpr std::string_view kLeftAlone = "it is left alone";

class DirectoryVerifier {
 public:
  DirectoryVerifier(io::CoreIo& core, const std::string& data, Findings& findings)
      : core_(core), data_(data), findings_(findings) {}

  void run() {
    if (!read_state()) return;
    check_root();
    check_pool();
    check_journals();
    check_topics();
    auto recovered = recover(core_, directory_);
    if (!recovered) {
      findings_.add("(next start)", recovered.error().detail, std::string(kNoStart));
    }
    for (const auto& [key, path] : directory_.known) {
      if (!core_.disk.info(path)) continue;
      PartitionVerifier verifier(core_, directory_, key, findings_);
      if (!recovered) {
        verifier.run_without_start();
        continue;
      }
      const auto found = recovered->find(key);
      verifier.run(found == recovered->end() ? partition::Recovered{} : found->second);
    }
  }

 private:
  // Without meta and catalog nobody knows what the rest should be.
  bool read_state() {
    const auto meta = read_meta(core_, data_);
    if (!meta && meta.error().code == ENOENT) {
      fail_usage("{} is no data directory: it has no {}", data_, catalog::kMetaFileName);
    }
    if (!meta) {
      findings_.add(std::string(catalog::kMetaFileName), meta.error().detail,
                    std::string(kNoStart));
      return false;
    }
    auto catalog = read_catalog(core_, data_);
    const bool never_made = !catalog && catalog.error().code == ENOENT && !meta->catalog_created;
    if (!catalog && !never_made) {
      findings_.add(std::string(catalog::kCatalogFileName), catalog.error().detail,
                    std::string(kNoStart));
      return false;
    }
    directory_ = describe_directory(data_, *meta,
                                    catalog ? catalog->image : catalog::CatalogImage{});
    return true;
  }

  std::vector<std::string> names_in(const std::string& below) {
    std::vector<std::string> names;
    const auto entries = core_.disk.list(below.empty() ? data_ : data_ + "/" + below);
    if (!entries && entries.error().code != ENOENT) {
      findings_.add(below, entries.error().detail, std::string(kNoStart));
    }
    if (entries) {
      for (const auto& entry : *entries) names.push_back(entry.name);
    }
    std::ranges::sort(names);
    return names;
  }

  void check_root() {
    const auto is_known = [](const std::string& name) {
      static constexpr std::string_view kNames[] = {"lock", "journal", "topics", "pool",
                                                    "lost+found", catalog::kMetaFileName,
                                                    catalog::kCatalogFileName};
      std::string_view whole = name;
      if (whole.ends_with(".new")) whole.remove_suffix(4);  // of a replacement that was cut short
      return std::ranges::find(kNames, whole) != std::end(kNames) ||
             log::is_reserve_file(name);
    };
    for (const std::string& name : names_in("")) {
      if (!is_known(name)) findings_.add(name, "no file of Weir", std::string(kLeftAlone));
    }
  }

  // A start removes what a pool named, whatever is in it; the rest is somebody's.
  void check_pool() {
    for (const std::string& name : names_in("pool")) {
      if (!log::is_pool_file(name)) {
        findings_.add("pool/" + name, "no file of a segment that is gone", std::string(kLeftAlone));
      }
    }
  }

  void check_topics() {
    for (const std::string& name : names_in("topics")) {
      if (log::is_deleted_directory(name)) continue;
      const std::string where = "topics/" + name;
      const auto key = log::parse_partition_directory(name);
      if (!key) {
        findings_.add(where, "no directory of a partition", std::string(kLeftAlone));
        continue;
      }
      const auto known = directory_.known.find(*key);
      if (known == directory_.known.end()) {
        // Of a topic that was deleted, and a crash came before its files were gone.
        if (key->topic < directory_.image.next_serial) continue;
        findings_.add(where, "the catalog does not know its topic yet", std::string(kLeftAlone));
      } else if (known->second != data_ + "/" + where) {
        findings_.add(where,
                      fmt::format("the partition's directory is {}",
                                  known->second.substr(data_.size() + 1)),
                      std::string(kLeftAlone));
      }
    }
  }

  void check_journals() {
    for (const std::string& name : names_in("journal")) {
      if (!log::parse_journal_file(name)) {
        findings_.add("journal/" + name, "no journal", std::string(kLeftAlone));
      }
    }
    for (int32_t i = 0; i < directory_.meta.journal_core_count; ++i) check_journal(i);
  }

  void check_journal(int32_t core) {
    const int64_t generation = directory_.meta.journal_generation;
    const std::string path = log::journal_file(data_, static_cast<uint32_t>(core),
                                               static_cast<uint64_t>(generation));
    const std::string where = path.substr(data_.size() + 1);
    const auto replay = journal::replay_journal(core_.loop, core_.disk, path,
                                                static_cast<uint64_t>(generation));
    if (!replay) {
      findings_.add(where, replay.error().detail, std::string(kNoStart));
      return;
    }
    check_superblocks(where, *replay);
    uint64_t named = 0;
    for (const auto& record : replay->records) {
      if (record.damaged) {
        ++named;
        findings_.add(where,
                      fmt::format("record {} is damaged, and the one behind it, too",
                                  record.sequence),
                      "what only it had is lost; partitions that no later record names end there");
      }
      for (const auto& replayed : record.entries) check_entry(where, record.sequence, replayed);
    }
    if (replay->damaged_records > named) {
      findings_.add(where,
                    fmt::format("{} records with a damaged head",
                                replay->damaged_records - named),
                    "what they held is taken by the table that is repeated behind them");
    }
  }

  void check_superblocks(const std::string& where, const journal::Replay& replay) {
    const std::span<const std::byte> image(replay.image.get(), journal::kRecordsBegin);
    for (uint32_t copy = 0; copy < journal::kSuperblockCopies; ++copy) {
      journal::Superblock superblock;
      const auto block = image.subspan(copy * io::kBlockSize, io::kBlockSize);
      if (journal::decode_superblock(block, copy, superblock)) continue;
      findings_.add(where, fmt::format("superblock copy {} is damaged", copy),
                    "the other copies are believed; new journals replace it");
    }
  }

  void check_entry(const std::string& where, uint64_t sequence,
                   const journal::ReplayedEntry& replayed) {
    const journal::Entry& entry = replayed.entry;
    const auto shown = directory_.shown.find(entry.key);
    if (replayed.sound || shown == directory_.shown.end()) return;
    const std::string what =
        entry.base_offset == entry.next_offset
            ? fmt::format("bytes that the segment {} of it lacks",
                          entry.segment_base_offset.value())
            : fmt::format("its offsets {}..{}", entry.base_offset.value(),
                          entry.next_offset.value() - 1);
    findings_.add(where, fmt::format("record {} is damaged: {}, {}", sequence, shown->second, what),
                  "the segment is looked at; what it does not have is refused");
  }

  io::CoreIo& core_;
  const std::string data_;
  Findings& findings_;
  DataDirectory directory_;
};

}  // namespace

void Findings::add(const std::string& where, const std::string& what, const std::string& next) {
  ++count_;
  fmt::print("{}: {}; next start: {}\n", where, what, next);
}

int verify_directory(const std::string& data) {
  const std::string path = normal_path(data);
  Findings findings;
  run_offline(path, Access::look,
              [&](io::CoreIo& core) { DirectoryVerifier(core, path, findings).run(); });
  fmt::print("{} finding{}\n", findings.count(), findings.count() == 1 ? "" : "s");
  return findings.count();
}

}  // namespace weir::tools
