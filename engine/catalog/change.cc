#include "engine/catalog/change.h"

#include <fmt/format.h>

#include <bit>

#include "engine/model/limits.h"
#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::catalog {
namespace {

constexpr size_t kChangeHeaderSize = 8;
constexpr uint8_t kFlagInternal = 1;

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  template <std::integral T>
  void integer(T value) {
    const size_t at = out_.size();
    out_.resize(at + sizeof(T));
    base::store_le(out_.data() + at, value);
  }
  void bytes(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void text(std::string_view text) {
    ASSERT(text.size() <= UINT16_MAX);
    integer(static_cast<uint16_t>(text.size()));
    bytes(base::as_bytes(text));
  }
  void quotas(const Change& change) {
    integer(static_cast<uint8_t>(change.quota_entity.user_kind));
    text(change.quota_entity.user);
    integer(static_cast<uint8_t>(change.quota_entity.client_id_kind));
    text(change.quota_entity.client_id);
    integer(static_cast<uint32_t>(change.quotas.size()));
    for (const auto& [key, value] : change.quotas) {
      text(key);
      integer(std::bit_cast<uint64_t>(value));
    }
  }
  void overrides(const Overrides& overrides) {
    integer(static_cast<uint32_t>(overrides.size()));
    for (const auto& [name, value] : overrides) {
      text(name);
      text(value);
    }
  }

 private:
  std::vector<std::byte>& out_;
};

std::string read_text(base::ByteReader& reader) {
  const auto size = reader.read_le<uint16_t>();
  return std::string(base::as_text(reader.read_bytes(size)));
}

// Fails the reader where the set is not what encode_change() writes: sorted, without repetition.
bool read_overrides(base::ByteReader& reader, Overrides& overrides) {
  const auto count = reader.read_le<uint32_t>();
  if (count > model::kOverridesPerTopicMax) return false;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string name = read_text(reader);
    std::string value = read_text(reader);
    if (!overrides.empty() && name <= overrides.rbegin()->first) return false;
    overrides.emplace_hint(overrides.end(), std::move(name), std::move(value));
  }
  return reader.ok();
}

// A name is there exactly where the kind says so.
bool read_quota_name(base::ByteReader& reader, QuotaName& kind, std::string& name) {
  const auto number = reader.read_le<uint8_t>();
  kind = static_cast<QuotaName>(number);
  name = read_text(reader);
  return reader.ok() && number <= static_cast<uint8_t>(QuotaName::named) &&
         name.empty() == (kind != QuotaName::named);
}

bool read_quotas(base::ByteReader& reader, Change& change) {
  QuotaEntity& entity = change.quota_entity;
  if (!read_quota_name(reader, entity.user_kind, entity.user) ||
      !read_quota_name(reader, entity.client_id_kind, entity.client_id)) {
    return false;
  }
  if (entity.user_kind == QuotaName::absent && entity.client_id_kind == QuotaName::absent) {
    return false;
  }
  const auto count = reader.read_le<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string key = read_text(reader);
    const auto value = std::bit_cast<double>(reader.read_le<uint64_t>());
    if (!(value > 0)) return false;
    if (!change.quotas.empty() && key <= change.quotas.rbegin()->first) return false;
    change.quotas.emplace_hint(change.quotas.end(), std::move(key), value);
  }
  return reader.ok();
}

uint8_t flags_of(const Change& change) {
  switch (change.kind) {
    case ChangeKind::create_topic: return change.internal ? kFlagInternal : 0;
    case ChangeKind::set_broker_config: return static_cast<uint8_t>(change.scope);
    case ChangeKind::delete_topic:
    case ChangeKind::set_partition_count:
    case ChangeKind::set_topic_config:
    case ChangeKind::set_client_quotas:
    case ChangeKind::set_group_config:
    case ChangeKind::reserve: return 0;
  }
  UNREACHABLE("change kind {}", static_cast<int>(change.kind));
}

void encode_body(const Change& change, Writer& writer) {
  switch (change.kind) {
    case ChangeKind::create_topic:
      writer.integer(change.serial.value());
      writer.bytes(change.id.bytes);
      writer.integer(change.partition_count);
      writer.text(change.name);
      writer.overrides(change.overrides);
      return;
    case ChangeKind::delete_topic: writer.integer(change.serial.value()); return;
    case ChangeKind::set_partition_count:
      writer.integer(change.serial.value());
      writer.integer(change.partition_count);
      return;
    case ChangeKind::set_topic_config:
      writer.integer(change.serial.value());
      writer.overrides(change.overrides);
      return;
    case ChangeKind::set_broker_config: writer.overrides(change.overrides); return;
    case ChangeKind::set_client_quotas: writer.quotas(change); return;
    case ChangeKind::set_group_config:
      writer.text(change.name);
      writer.overrides(change.overrides);
      return;
    case ChangeKind::reserve:
      writer.integer(change.next_serial.value());
      writer.integer(change.next_producer_id.value());
      return;
  }
  UNREACHABLE("change kind {}", static_cast<int>(change.kind));
}

bool decode_create(base::ByteReader& reader, uint8_t flags, Change& change) {
  change.serial = model::TopicSerial(reader.read_le<uint32_t>());
  const auto id = reader.read_bytes(change.id.bytes.size());
  if (!reader.ok()) return false;
  std::copy(id.begin(), id.end(), change.id.bytes.begin());
  change.partition_count = reader.read_le<int32_t>();
  change.name = read_text(reader);
  change.internal = (flags & kFlagInternal) != 0;
  return read_overrides(reader, change.overrides) && flags <= kFlagInternal &&
         change.partition_count > 0 && !change.name.empty() && !change.id.is_zero();
}

// False: these bytes are not of a change this version writes.
bool decode_body(base::ByteReader& reader, uint8_t flags, Change& change) {
  switch (change.kind) {
    case ChangeKind::create_topic: return decode_create(reader, flags, change);
    case ChangeKind::delete_topic:
      change.serial = model::TopicSerial(reader.read_le<uint32_t>());
      return flags == 0;
    case ChangeKind::set_partition_count:
      change.serial = model::TopicSerial(reader.read_le<uint32_t>());
      change.partition_count = reader.read_le<int32_t>();
      return flags == 0 && change.partition_count > 0;
    case ChangeKind::set_topic_config:
      change.serial = model::TopicSerial(reader.read_le<uint32_t>());
      return flags == 0 && read_overrides(reader, change.overrides);
    case ChangeKind::set_broker_config:
      change.scope = static_cast<BrokerScope>(flags);
      return flags <= 1 && read_overrides(reader, change.overrides);
    case ChangeKind::set_client_quotas: return flags == 0 && read_quotas(reader, change);
    case ChangeKind::set_group_config:
      change.name = read_text(reader);
      return flags == 0 && !change.name.empty() && read_overrides(reader, change.overrides);
    case ChangeKind::reserve:
      change.next_serial = model::TopicSerial(reader.read_le<uint32_t>());
      change.next_producer_id = model::ProducerId(reader.read_le<int64_t>());
      return flags == 0 && change.next_producer_id.value() >= 0;
  }
  return false;
}

}  // namespace

void encode_change(const Change& change, std::vector<std::byte>& out) {
  Writer writer(out);
  const size_t start = out.size();
  writer.integer(static_cast<uint8_t>(change.kind));
  writer.integer(flags_of(change));
  writer.integer(uint16_t{0});
  writer.integer(uint32_t{0});
  encode_body(change, writer);
  const size_t size = out.size() - start - kChangeHeaderSize;
  base::store_le(out.data() + start + 4, static_cast<uint32_t>(size));
}

base::Result<std::vector<Change>> decode_changes(std::span<const std::byte> payload) {
  std::vector<Change> changes;
  base::ByteReader reader(payload);
  while (reader.remaining() > 0) {
    const size_t position = reader.position();
    Change change;
    const auto kind = reader.read_le<uint8_t>();
    const auto flags = reader.read_le<uint8_t>();
    const auto zero = reader.read_le<uint16_t>();
    const auto size = reader.read_le<uint32_t>();
    change.kind = static_cast<ChangeKind>(kind);
    base::ByteReader body(reader.read_bytes(size));
    if (!reader.ok() || zero != 0 || !decode_body(body, flags, change) || !body.ok() ||
        body.remaining() != 0) {
      return base::error(0, fmt::format("unknown change kind={} size={} at byte {} of the record",
                                        kind, size, position));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace weir::catalog
