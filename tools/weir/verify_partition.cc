// weir dump --verify: one partition. Its segments and ledgers, snapshot and names.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/catalog/file_io.h"
#include "engine/log/file_names.h"
#include "engine/log/ledger.h"
#include "engine/partition/producer_state.h"
#include "tools/weir/verify.h"

namespace weir::tools {
namespace {

using log::Group;
using log::Ledger;
using partition::Damage;

constexpr size_t kFileSizeMax = size_t{1} << 30;

// Whether the ledger's entries say of its groups what the batches say.
class EntryCheck final : public partition::InspectionVisitor {
 public:
  explicit EntryCheck(const std::vector<Group>& groups) : groups_(groups), seen_(groups.size()) {}

  base::Status on_batch(std::span<const std::byte> bytes) override {
    const log::BatchView batch(bytes);
    const auto at = std::ranges::upper_bound(groups_, batch.base_offset(), {}, &Group::base_offset);
    if (at == groups_.begin()) return {};
    Group& group = seen_[static_cast<size_t>(at - groups_.begin()) - 1];
    if (batch.record_count() > 0) {
      group.max_timestamp = std::max(group.max_timestamp, batch.max_timestamp());
    }
    if (batch.is_transactional()) group.flags |= Group::kTransactional;
    if (batch.is_control()) group.flags |= Group::kControl;
    if (batch.has_producer_id()) group.flags |= Group::kProducers;
    ++group.batch_count;
    group.size += static_cast<uint32_t>(batch.size());
    return {};
  }
  base::Status on_damage(const Damage& damage) override {
    damages.push_back(damage);
    return {};
  }
  // Of groups that are whole: the base offset of the first that does not agree.
  std::optional<model::Offset> first_wrong() const {
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Group& told = groups_[i];
      const Group& seen = seen_[i];
      if (told.size != seen.size) continue;
      if (told.max_timestamp != seen.max_timestamp || told.flags != seen.flags ||
          told.batch_count != seen.batch_count) {
        return told.base_offset;
      }
    }
    return std::nullopt;
  }

  std::vector<Damage> damages;

 private:
  const std::vector<Group>& groups_;
  std::vector<Group> seen_;
};

struct LedgerFile {
  bool header_sound = false;
  size_t sound = 0;          // entries up to the first that is not
  bool sound_behind = false;  // there are sound ones behind that
  std::vector<Group> groups{};
};

LedgerFile read_ledger(std::span<const std::byte> bytes, model::Offset base, uint64_t valid_end) {
  LedgerFile file;
  file.header_sound = Ledger::header_sound(bytes, base);
  Ledger ledger(base);
  bool broken = !file.header_sound;
  for (size_t at = log::kLedgerEntrySize; at + log::kLedgerEntrySize <= bytes.size();
       at += log::kLedgerEntrySize) {
    const auto group = Ledger::decode_entry(bytes.subspan(at, log::kLedgerEntrySize));
    if (group && group->end() > valid_end) break;  // ahead of the log
    if (broken) {
      file.sound_behind = file.sound_behind || group.has_value();
      continue;
    }
    broken = !group || !ledger.restore(*group);
    if (!broken) ++file.sound;
  }
  file.groups = ledger.groups();
  return file;
}

std::string offsets(model::Offset base, model::Offset next) {
  return fmt::format("{}..{}", base.value(), next.value() - 1);
}

std::string_view told(Damage::Kind kind) {
  switch (kind) {
    case Damage::Kind::checksum: return "bytes changed";
    case Damage::Kind::unreadable: return "bytes cannot be read";
    case Damage::Kind::quarantined: return "bytes were found damaged at a start";
    case Damage::Kind::missing: return "the file ends there";
  }
  return "";
}

}  // namespace

PartitionVerifier::PartitionVerifier(io::CoreIo& core, const DataDirectory& data,
                                     model::PartitionKey key, Findings& findings)
    : core_(core),
      topic_partition_(data.shown.at(key)),
      directory_(data.known.at(key)),
      shown_(directory_.substr(data.path.size() + 1)),
      findings_(findings),
      inspection_(core, directory_) {}

std::string PartitionVerifier::where(const std::string& name) const {
  return fmt::format("{}/{}", shown_, name);
}

std::vector<std::byte> PartitionVerifier::read_file(const std::string& name) {
  auto bytes = catalog::FileIo(core_.loop, core_.disk, directory_).read(name, kFileSizeMax);
  if (bytes) return *std::move(bytes);
  findings_.add(where(name), bytes.error().detail, "it is made anew");
  return {};
}

void PartitionVerifier::run(const partition::Recovered& partition) {
  check_names();
  check_snapshot(partition.log_end);
  check_segments(partition);
}

void PartitionVerifier::run_without_start() {
  check_names();
  const auto entries = core_.disk.list(directory_);
  if (!entries) return;
  std::vector<log::SegmentName> names;
  for (const auto& entry : *entries) {
    if (const auto name = log::parse_segment_name(entry.name, log::kLogSuffix)) {
      names.push_back(*name);
    }
  }
  log::take_superseded(names);
  partition::Recovered partition;
  for (const log::SegmentName& name : names) {
    const auto info = core_.disk.info(log::segment_file(directory_, name, log::kLogSuffix));
    if (!info) continue;
    partition.segments.push_back({.name = name, .end = info->size, .allocated = info->size,
                                  .sealed = true, .ledger = log::Ledger(name.base_offset)});
  }
  if (partition.segments.empty()) return;
  partition.log_end = partition.segments.back().name.base_offset;
  check_segments(partition);
}

void PartitionVerifier::check_names() {
  const auto entries = core_.disk.list(directory_);
  if (!entries) return findings_.add(shown_, entries.error().detail, "it is refused");
  for (const auto& entry : *entries) {
    const std::string& name = entry.name;
    const bool known = log::parse_segment_name(name, log::kLogSuffix) ||
                       log::parse_segment_name(name, log::kLedgerSuffix) ||
                       log::parse_segment_name(name, log::kCleaningSuffix) ||
                       log::parse_segment_file(name, log::kStartSuffix) ||
                       name.starts_with(log::kProducerSnapshotName);
    if (!known) findings_.add(where(name), "no file of a partition", "it is left alone");
  }
}

void PartitionVerifier::check_snapshot(model::Offset log_end) {
  const std::string name(log::kProducerSnapshotName);
  if (!core_.disk.info(directory_ + "/" + name)) return;
  partition::ProducerState state;
  model::Offset next_offset;
  std::vector<log::EpochStart> epochs;
  if (!state.decode(read_file(name), next_offset, epochs)) {
    return findings_.add(where(name), "damaged", "producers are rebuilt from the batches");
  }
  if (next_offset <= log_end) return;
  findings_.add(where(name),
                fmt::format("speaks of offsets up to {}, the log ends at {}",
                            next_offset.value() - 1, log_end.value()),
                "producers are rebuilt from the batches");
}

void PartitionVerifier::check_segments(const partition::Recovered& partition) {
  for (size_t i = 0; i < partition.segments.size(); ++i) {
    const partition::RecoveredSegment& segment = partition.segments[i];
    const model::Offset end = partition::Inspection::end_of(partition, i);
    if (segment.name.base_offset == end) continue;
    if (!partition::Inspection::stands_for_missing(segment)) {
      check_ledger(segment, i + 1 == partition.segments.size());
    }
    const std::string path = log::segment_file(directory_, segment.name, log::kLedgerSuffix);
    const std::string name = path.substr(directory_.size() + 1);
    LedgerFile ledger;
    if (core_.disk.info(path)) {
      ledger = read_ledger(read_file(name), segment.name.base_offset, segment.end);
    }
    EntryCheck check(ledger.groups);
    if (const auto seen = inspection_.run(partition, i, check); !seen) {
      findings_.add(where(log::segment_file("", segment.name, log::kLogSuffix).substr(1)),
                    seen.error().detail,
                    fmt::format("offsets {} of {} are refused",
                                offsets(segment.name.base_offset, end), topic_partition_));
      continue;
    }
    for (const Damage& damage : check.damages) {
      if (damage.next_offset > partition.log_start) report(damage);
    }
    if (const auto wrong = check.first_wrong()) {
      findings_.add(where(name),
                    fmt::format("the entry of offset {} does not agree with its batches",
                                wrong->value()),
                    "it is believed: look-ups by time may go wrong");
    }
  }
}

void PartitionVerifier::check_ledger(const partition::RecoveredSegment& segment, bool active) {
  const std::string path = log::segment_file(directory_, segment.name, log::kLedgerSuffix);
  const std::string name = path.substr(directory_.size() + 1);
  const std::string rebuilt = "what it lacks is rebuilt from the segment, where rot cannot be told "
                              "from the bytes behind it";
  if (!core_.disk.info(path)) {
    // The active segment has none until its first groups are in the file.
    if (!active) findings_.add(where(name), "missing", rebuilt);
    return;
  }
  const auto bytes = read_file(name);
  const LedgerFile ledger = read_ledger(bytes, segment.name.base_offset, segment.end);
  const uint64_t end = ledger.groups.empty() ? 0 : ledger.groups.back().end();
  if (!ledger.header_sound && !(active && bytes.empty())) {
    findings_.add(where(name), "damaged: no header", rebuilt);
  } else if (ledger.sound_behind) {
    findings_.add(where(name), fmt::format("damaged: entry {}", ledger.sound), rebuilt);
  } else if (!active && end < segment.end) {
    findings_.add(where(name),
                  fmt::format("ends at position {} of {}", end, segment.end), rebuilt);
  }
}

void PartitionVerifier::report(const Damage& damage) {
  const std::string lost = offsets(damage.base_offset, damage.next_offset);
  std::string what = fmt::format("position {}: {}, {} of {} lost", damage.position,
                                 told(damage.kind), lost, topic_partition_);
  if (damage.size > 0) what += fmt::format(" ({} bytes)", damage.size);
  if (damage.transactional) what += "; ends of transactions may be among them";
  findings_.add(where(log::segment_file("", damage.segment, log::kLogSuffix).substr(1)), what,
                fmt::format("offsets {} are refused until weir repair --give-up {}:{}-{}",
                            offsets(damage.refused_begin, damage.refused_end), topic_partition_,
                            damage.base_offset.value(), damage.next_offset.value() - 1));
}

}  // namespace weir::tools
