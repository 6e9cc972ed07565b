#include "engine/partition/inspection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/log/buffer_pool.h"
#include "engine/log/ledger_loader.h"
#include "engine/log/segment_walker.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/waiter.h"

namespace weir::partition {
namespace {

class DamageList final : public InspectionVisitor {
 public:
  base::Status on_batch(std::span<const std::byte>) override { return {}; }
  base::Status on_damage(const Damage& damage) override {
    found.push_back(damage);
    return {};
  }
  std::vector<Damage> found;
};

}  // namespace

std::string_view name(Damage::Kind kind) {
  switch (kind) {
    case Damage::Kind::checksum: return "checksum";
    case Damage::Kind::unreadable: return "unreadable";
    case Damage::Kind::quarantined: return "quarantined";
    case Damage::Kind::missing: return "missing";
  }
  UNREACHABLE("kind of damage {}", static_cast<int>(kind));
}

model::Offset Inspection::end_of(const Recovered& partition, size_t index) {
  return index + 1 < partition.segments.size() ? partition.segments[index + 1].name.base_offset
                                               : partition.log_end;
}

base::Result<std::vector<Damage>> Inspection::find_damage(const Recovered& partition) {
  DamageList list;
  for (size_t i = 0; i < partition.segments.size(); ++i) {
    CHECK_OK(run(partition, i, list));
  }
  std::erase_if(list.found, [&](const Damage& damage) {
    return damage.next_offset <= partition.log_start;
  });
  return std::move(list.found);
}

// As a broker will have it: from its file, and from the batches where that is not sound.
base::Result<log::Ledger> Inspection::load_ledger(const RecoveredSegment& segment,
                                                  model::Offset end) {
  if (segment.ledger_loaded) return segment.ledger;
  log::BufferPool pool(0);
  log::Segment whole(segment.name, pool);
  whole.end = segment.end;
  whole.gathered_offset = end;
  whole.ledger_loaded = false;
  log::LedgerLoader loader(core_.disk, core_.loop);
  io::Waiter waiter;
  loader.start(directory_, whole, segment.end, true, waiter.op);
  while (loader.busy() && loader.pending().armed()) core_.loop.run_until(loader.pending());
  // Only in a simulated world that died is it busy with nothing to wait for.
  if (loader.busy()) return base::error(EIO, "the machine stopped while a ledger was read");
  core_.loop.run_until(waiter.op);
  if (waiter.op.result() >= 0) return std::move(whole.ledger);
  return base::error(-waiter.op.result(),
                     fmt::format("cannot read {}: {}",
                                 log::segment_file(directory_, segment.name, log::kLogSuffix),
                                 std::strerror(-waiter.op.result())));
}

base::Status Inspection::run(const Recovered& partition, size_t index,
                             InspectionVisitor& visitor) {
  const RecoveredSegment& segment = partition.segments[index];
  const bool active = index + 1 == partition.segments.size();
  const model::Offset end = end_of(partition, index);
  if (segment.name.base_offset == end) return {};
  visitor_ = &visitor;
  name_ = segment.name;
  TRY(const log::Ledger ledger, load_ledger(segment, end));
  if (stands_for_missing(segment)) {
    for (const log::Group& group : ledger.groups()) {
      CHECK_OK(lose(group, Damage::Kind::missing, 0, 0, group.base_offset, group.next_offset));
    }
    return {};
  }

  const auto path = log::segment_file(directory_, segment.name, log::kLogSuffix);
  io::Waiter waiter;
  core_.disk.open(waiter.op, path.c_str(), {.direct = true, .writable = false});
  core_.loop.run_until(waiter.op);
  if (waiter.op.result() < 0) {
    return base::error(-waiter.op.result(), fmt::format("cannot open {}: {}", path,
                                                        std::strerror(-waiter.op.result())));
  }
  const io::FileId file(waiter.op.result());
  const std::span<const std::byte> tail =
      active ? std::span<const std::byte>(partition.tail) : std::span<const std::byte>();
  log::SegmentWalker walker(core_.loop, core_.disk, file,
                            active ? partition.tail_begin : segment.end, tail);
  base::Status status{};
  for (const log::Group& group : ledger.groups()) {
    status = visit_group(walker, group);
    if (!status) break;
  }
  if (status && ledger.next_offset() < end) {
    const log::Group rest{.base_offset = ledger.next_offset(), .next_offset = end,
                          .position = ledger.end(), .flags = log::Group::kQuarantined};
    status = lose(rest, Damage::Kind::missing, rest.position, rest.position, rest.base_offset,
                  rest.next_offset);
  }
  core_.disk.close(waiter.op, file);
  core_.loop.run_until(waiter.op);
  return status;
}

// False: some of it could not be read and is zeros here.
bool Inspection::read(log::SegmentWalker& walker, const log::Group& group) {
  bytes_.resize(group.size);
  if (walker.copy(group.position, bytes_)) return true;
  std::ranges::fill(bytes_, std::byte{0});
  for (uint64_t at = group.position; at < group.end();) {
    const uint64_t block_end = (at / io::kBlockSize + 1) * io::kBlockSize;
    const auto piece = std::span(bytes_).subspan(at - group.position,
                                                 std::min(block_end, group.end()) - at);
    if (!walker.copy(at, piece)) std::ranges::fill(piece, std::byte{0});
    at += piece.size();
  }
  return false;
}

base::Status Inspection::visit_group(log::SegmentWalker& walker, const log::Group& group) {
  if (group.flags & log::Group::kQuarantined) {
    const auto kind = group.size == 0 ? Damage::Kind::missing : Damage::Kind::quarantined;
    return lose(group, kind, group.position, group.end(), group.base_offset, group.next_offset);
  }
  const bool whole = read(walker, group);
  if (!whole || base::crc32c(bytes_) != group.checksum) return visit_damaged(group, !whole);
  // What the sum vouches for hangs together, or the ledger is not that of these bytes.
  model::Offset offset = group.base_offset;
  uint64_t at = 0;
  while (at < group.size && sound_at(at, group, offset)) {
    const log::BatchView batch(std::span<const std::byte>(bytes_).subspan(at));
    offset = batch.next_offset();
    at += batch.size();
  }
  if (at != group.size || offset != group.next_offset) {
    return lose(group, Damage::Kind::checksum, group.position, group.end(), group.base_offset,
                group.next_offset);
  }
  return visit_batches(0, group.size);
}

// Whether a batch that begins at `at` of the group is whole and what it should be there.
bool Inspection::sound_at(uint64_t at, const log::Group& group, model::Offset offset) const {
  const auto bytes = std::span<const std::byte>(bytes_).subspan(at);
  if (!log::starts_with_batch(bytes)) return false;
  const log::BatchView batch(bytes);
  const bool placed = name_.is_cleaned() ? batch.base_offset() >= offset
                                         : batch.base_offset() == offset;
  return placed && batch.base_offset() < group.next_offset && batch.last_offset_delta() >= 0 &&
         batch.next_offset() <= group.next_offset &&
         batch.leader_epoch() == group.leader_epoch && batch.computed_crc() == batch.crc();
}

base::Status Inspection::visit_damaged(const log::Group& group, bool unreadable) {
  const auto kind = unreadable ? Damage::Kind::unreadable : Damage::Kind::checksum;
  const auto all = std::span<const std::byte>(bytes_);
  uint64_t front_end = 0;
  model::Offset front_next = group.base_offset;
  while (!name_.is_cleaned() && front_end < group.size &&
         sound_at(front_end, group, front_next)) {
    const log::BatchView batch(all.subspan(front_end));
    front_next = batch.next_offset();
    front_end += batch.size();
  }
  // From where a chain of sound batches leads exactly to the end of the group.
  uint64_t back = group.size;
  model::Offset back_offset = group.next_offset;
  for (uint64_t from = front_end + 1; !name_.is_cleaned() && from < group.size; ++from) {
    if (group.size - from < log::kBatchHeaderSize) break;
    const model::Offset first = log::BatchView(all.subspan(from)).base_offset();
    uint64_t at = from;
    model::Offset next = first;
    while (first > front_next && at < group.size && sound_at(at, group, next)) {
      const log::BatchView batch(all.subspan(at));
      next = batch.next_offset();
      at += batch.size();
    }
    if (at != group.size || next != group.next_offset) continue;
    back = from;
    back_offset = first;
    break;
  }
  // Every batch as it should be, and yet not the sum: nothing can be told apart.
  if (front_end == group.size) {
    return lose(group, kind, group.position, group.end(), group.base_offset, group.next_offset);
  }
  CHECK_OK(visit_batches(0, front_end));
  CHECK_OK(lose(group, kind, group.position + front_end, group.position + back, front_next,
                back_offset));
  return visit_batches(back, group.size);
}

base::Status Inspection::visit_batches(uint64_t from, uint64_t to) {
  while (from < to) {
    const log::BatchView batch(std::span<const std::byte>(bytes_).subspan(from));
    CHECK_OK(visitor_->on_batch(batch.bytes()));
    from += batch.size();
  }
  return {};
}

base::Status Inspection::lose(const log::Group& group, Damage::Kind kind, uint64_t from,
                              uint64_t to, model::Offset base, model::Offset next) {
  constexpr uint32_t kOfTransactions = log::Group::kTransactional | log::Group::kControl;
  // Nobody knows what was in a range that no journal had any more.
  const bool unknown = (group.flags & log::Group::kQuarantined) != 0;
  return visitor_->on_damage({.kind = kind,
                              .segment = name_,
                              .position = from,
                              .size = to - from,
                              .base_offset = base,
                              .next_offset = next,
                              .refused_begin = group.base_offset,
                              .refused_end = group.next_offset,
                              .transactional = unknown || (group.flags & kOfTransactions) != 0});
}

}  // namespace weir::partition
