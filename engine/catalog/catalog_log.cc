#include "engine/catalog/catalog_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/catalog/group_config.h"
#include "engine/model/limits.h"
#include "io/base/assert.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"
#include "io/base/units.h"

namespace weir::catalog {
namespace {

using base::load_le;
using base::store_le;

constexpr uint64_t kFileMagic = 0x474F'4C43'5249'4557;  // "WEIRCLOG"
constexpr uint32_t kRecordMagic = 0x4345'5243;          // "CREC"

enum : size_t {  // positions in the file header
  kHeaderMagic = 0,
  kHeaderVersion = 8,
  kHeaderSize = 12,
  kHeaderLogId = 16,
  kHeaderSequence = 32,
  kHeaderCrc = 60,
};

enum : size_t {  // positions in a record
  kMagic = 0,
  kCrc = 4,
  kPosition = 8,
  kSequence = 16,
  kPayloadSize = 24,
  kPreviousCrc = 28,
};

struct Record {
  uint64_t sequence;
  uint32_t crc;
  uint32_t previous_crc;
  std::span<const std::byte> payload;
  uint64_t end;  // position behind it and its zeros
};

uint32_t record_crc(const LogId& log_id, std::span<const std::byte> from_position) {
  return base::crc32c(from_position, base::crc32c(log_id));
}

// The record at `position` if there is a whole one of this log whose checksum holds.
std::optional<Record> parse_record(const LogId& log_id, std::span<const std::byte> file,
                                   uint64_t position) {
  if (file.size() - position < kCatalogRecordHeaderSize) return std::nullopt;
  const std::byte* const at = file.data() + position;
  const auto payload_size = load_le<uint32_t>(at + kPayloadSize);
  if (load_le<uint32_t>(at + kMagic) != kRecordMagic ||
      load_le<uint64_t>(at + kPosition) != position ||
      payload_size > model::kCatalogRecordSizeMax) {
    return std::nullopt;
  }
  const uint64_t size = kCatalogRecordHeaderSize + payload_size;
  const uint64_t end = position + base::round_up(size, kCatalogAlignment);
  if (end > file.size()) return std::nullopt;
  const auto crc = load_le<uint32_t>(at + kCrc);
  if (crc != record_crc(log_id, file.subspan(position + kPosition, size - kPosition))) {
    return std::nullopt;
  }
  return Record{.sequence = load_le<uint64_t>(at + kSequence),
                .crc = crc,
                .previous_crc = load_le<uint32_t>(at + kPreviousCrc),
                .payload = file.subspan(position + kCatalogRecordHeaderSize, payload_size),
                .end = end};
}

std::optional<uint64_t> find_record_after(const LogId& log_id, std::span<const std::byte> file,
                                          uint64_t position) {
  for (uint64_t at = position + kCatalogAlignment; at < file.size(); at += kCatalogAlignment) {
    if (parse_record(log_id, file, at)) return at;
  }
  return std::nullopt;
}

std::unexpected<base::Error> damaged(std::string_view path, uint64_t position,
                                     std::string_view detail) {
  return base::error(
      0,
      fmt::format("{} is damaged at byte {}: {}. Topics after that place would be lost, so nothing "
                  "was changed and the broker does not start. Restore the file from a copy of the "
                  "data directory, or move the whole directory away to start empty",
                  path, position, detail));
}

base::Result<LogTail> read_header(std::span<const std::byte> file, std::string_view path) {
  if (file.size() < kCatalogHeaderSize) {
    return damaged(path, 0, fmt::format("only {} bytes are left", file.size()));
  }
  const std::byte* const at = file.data();
  if (load_le<uint64_t>(at + kHeaderMagic) != kFileMagic) {
    return damaged(path, 0, "it does not begin like a catalog log");
  }
  if (load_le<uint32_t>(at + kHeaderCrc) != base::crc32c(file.first(kHeaderCrc))) {
    return damaged(path, 0, "checksum of the header is wrong");
  }
  if (const auto version = load_le<uint32_t>(at + kHeaderVersion);
      version != kCatalogFormatVersion) {
    return base::error(
        0, fmt::format("{} has format version {}, this program knows version {}: it was "
                       "written by a newer one; use that",
                       path, version, kCatalogFormatVersion));
  }
  LogTail tail;
  std::copy_n(at + kHeaderLogId, tail.log_id.size(), tail.log_id.begin());
  tail.sequence = load_le<uint64_t>(at + kHeaderSequence);
  tail.previous_crc = load_le<uint32_t>(at + kHeaderCrc);
  return tail;
}

// Folds changes into an image. A change that does not fit the ones before it is an error: the
// checksums were right, so the writer did something this reader does not understand.
class ImageBuilder {
 public:
  bool add(Change change) {
    switch (change.kind) {
      case ChangeKind::create_topic:
        next_serial_ = std::max(next_serial_, change.serial + 1);
        return topics_.emplace(change.serial, std::move(change)).second;
      case ChangeKind::delete_topic: return topics_.erase(change.serial) == 1;
      case ChangeKind::set_partition_count: {
        const auto topic = topics_.find(change.serial);
        if (topic == topics_.end() || topic->second.partition_count >= change.partition_count) {
          return false;
        }
        topic->second.partition_count = change.partition_count;
        return true;
      }
      case ChangeKind::set_topic_config: {
        const auto topic = topics_.find(change.serial);
        if (topic == topics_.end()) return false;
        topic->second.overrides = std::move(change.overrides);
        return true;
      }
      case ChangeKind::set_broker_config:
        broker_[static_cast<size_t>(change.scope)] = std::move(change.overrides);
        return true;
      case ChangeKind::set_client_quotas:
        if (change.quotas.empty()) {
          quotas_.erase(change.quota_entity);
        } else {
          quotas_.insert_or_assign(std::move(change.quota_entity), std::move(change.quotas));
        }
        return true;
      case ChangeKind::set_group_config:
        if (change.overrides.empty()) {
          groups_.erase(change.name);
        } else {
          groups_.insert_or_assign(std::move(change.name), std::move(change.overrides));
        }
        return true;
      case ChangeKind::reserve:
        next_serial_ = std::max(next_serial_, change.next_serial);
        next_producer_id_ = std::max(next_producer_id_, change.next_producer_id);
        return true;
    }
    return false;
  }

  CatalogImage take() {
    CatalogImage image{
        .changes = {}, .next_serial = next_serial_, .next_producer_id = next_producer_id_};
    for (const BrokerScope scope : {BrokerScope::every_broker, BrokerScope::this_broker}) {
      Overrides& overrides = broker_[static_cast<size_t>(scope)];
      if (overrides.empty()) continue;
      image.changes.push_back({.kind = ChangeKind::set_broker_config,
                               .scope = scope,
                               .overrides = std::move(overrides)});
    }
    for (auto& [entity, values] : quotas_) {
      image.changes.push_back({.kind = ChangeKind::set_client_quotas,
                               .quota_entity = entity,
                               .quotas = std::move(values)});
    }
    for (auto& [group_id, overrides] : groups_) {
      image.changes.push_back({.kind = ChangeKind::set_group_config,
                               .name = group_id,
                               .overrides = std::move(overrides)});
    }
    for (auto& [serial, change] : topics_) image.changes.push_back(std::move(change));
    return image;
  }

 private:
  std::map<model::TopicSerial, Change> topics_;
  std::array<Overrides, 2> broker_;
  GroupConfigs groups_;
  ClientQuotas quotas_;
  model::TopicSerial next_serial_{1};
  model::ProducerId next_producer_id_{0};
};

base::Status add_record(const Record& record, std::string_view path, uint64_t position,
                        ImageBuilder& builder) {
  auto changes = decode_changes(record.payload);
  if (!changes) return damaged(path, position, changes.error().detail);
  for (Change& change : *changes) {
    const auto kind = static_cast<int>(change.kind);
    if (!builder.add(std::move(change))) {
      return damaged(path, position,
                     fmt::format("change of kind {} does not fit those before", kind));
    }
  }
  return {};
}

}  // namespace

LogTail encode_log_header(const LogId& log_id, uint64_t first_sequence,
                          std::vector<std::byte>& out) {
  const size_t start = out.size();
  out.resize(start + kCatalogHeaderSize);
  std::byte* const at = out.data() + start;
  store_le(at + kHeaderMagic, kFileMagic);
  store_le(at + kHeaderVersion, kCatalogFormatVersion);
  store_le(at + kHeaderSize, static_cast<uint32_t>(kCatalogHeaderSize));
  std::copy(log_id.begin(), log_id.end(), at + kHeaderLogId);
  store_le(at + kHeaderSequence, first_sequence);
  const uint32_t crc = base::crc32c({at, kHeaderCrc});
  store_le(at + kHeaderCrc, crc);
  return {.log_id = log_id, .sequence = first_sequence, .previous_crc = crc};
}

LogTail encode_record(const LogTail& tail, std::span<const Change> changes,
                      std::vector<std::byte>& out) {
  const size_t start = out.size();
  out.resize(start + kCatalogRecordHeaderSize);
  for (const Change& change : changes) encode_change(change, out);
  const size_t size = out.size() - start;
  ASSERT(size - kCatalogRecordHeaderSize <= model::kCatalogRecordSizeMax, "{} bytes", size);
  out.resize(start + base::round_up(size, kCatalogAlignment));
  std::byte* const at = out.data() + start;
  store_le(at + kMagic, kRecordMagic);
  store_le(at + kPosition, tail.position);
  store_le(at + kSequence, tail.sequence);
  store_le(at + kPayloadSize, static_cast<uint32_t>(size - kCatalogRecordHeaderSize));
  store_le(at + kPreviousCrc, tail.previous_crc);
  const uint32_t crc = record_crc(tail.log_id, {at + kPosition, size - kPosition});
  store_le(at + kCrc, crc);
  return {.log_id = tail.log_id,
          .position = tail.position + (out.size() - start),
          .sequence = tail.sequence + 1,
          .previous_crc = crc};
}

base::Result<LogContent> read_log(std::span<const std::byte> file, std::string_view path) {
  TRY(LogTail tail, read_header(file, path));
  ImageBuilder builder;
  uint64_t valid_size = tail.position;
  while (const auto record = parse_record(tail.log_id, file, tail.position)) {
    if (record->sequence != tail.sequence || record->previous_crc != tail.previous_crc) {
      return damaged(path, tail.position, "a record before this one is missing");
    }
    valid_size = record->end;
    if (record->payload.empty()) break;
    CHECK_OK(add_record(*record, path, tail.position, builder));
    tail.position = record->end;
    tail.sequence = record->sequence + 1;
    tail.previous_crc = record->crc;
  }
  const uint64_t bad = valid_size;
  if (bad < file.size()) {
    if (const auto later = find_record_after(tail.log_id, file, bad)) {
      return damaged(
          path, bad,
          fmt::format("a record there is unreadable, but one at byte {} is whole", *later));
    }
    // A frontier is followed by nothing but what a torn write over it may have left.
    if (parse_record(tail.log_id, file, bad)) {
      return damaged(path, bad, "records follow a frontier");
    }
  }
  return LogContent{.image = builder.take(), .tail = tail, .valid_size = valid_size};
}

std::vector<std::byte> encode_log(const LogId& log_id, uint64_t first_sequence,
                                  const CatalogImage& image) {
  std::vector<std::byte> out;
  LogTail tail = encode_log_header(log_id, first_sequence, out);
  const Change reserve{.kind = ChangeKind::reserve,
                       .next_serial = image.next_serial,
                       .next_producer_id = image.next_producer_id};
  tail = encode_record(tail, {&reserve, 1}, out);
  std::span<const Change> left = image.changes;
  while (!left.empty()) {
    const auto group = left.first(std::min(left.size(), model::kCatalogBatchChangesMax));
    tail = encode_record(tail, group, out);
    left = left.subspan(group.size());
  }
  encode_record(tail, {}, out);
  return out;
}

}  // namespace weir::catalog
