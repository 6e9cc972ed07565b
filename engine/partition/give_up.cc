#include "engine/partition/give_up.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/partition/segment_copy.h"

namespace weir::partition {
namespace {

std::string shown(model::Offset base, model::Offset next) {
  return fmt::format("{}..{}", base.value(), next.value() - 1);
}

// Refuses a batch with an offset that is to be given up.
class ReadableCheck final : public InspectionVisitor {
 public:
  explicit ReadableCheck(std::span<const OffsetRange> ranges) : ranges_(ranges) {}

  base::Status on_batch(std::span<const std::byte> bytes) override {
    const log::BatchView batch(bytes);
    for (const OffsetRange& range : ranges_) {
      if (batch.next_offset() <= range.base_offset || batch.base_offset() >= range.next_offset) {
        continue;
      }
      return base::error(EINVAL,
                         fmt::format("offsets {} can be read: only what is damaged can be given up",
                                     shown(std::max(batch.base_offset(), range.base_offset),
                                           std::min(batch.next_offset(), range.next_offset))));
    }
    return {};
  }
  base::Status on_damage(const Damage&) override { return {}; }

 private:
  std::span<const OffsetRange> ranges_;
};

// Copies what is sound.
class Copy final : public InspectionVisitor {
 public:
  explicit Copy(SegmentCopy& copy) : copy_(copy) {}
  base::Status on_batch(std::span<const std::byte> bytes) override { return copy_.add(bytes); }
  base::Status on_damage(const Damage&) override { return {}; }

 private:
  SegmentCopy& copy_;
};

}  // namespace

base::Status GiveUp::check_range(const Recovered& partition, const OffsetRange& range) {
  if (range.base_offset >= range.next_offset) {
    return base::error(EINVAL, fmt::format("a range from {} to {} holds nothing",
                                           range.base_offset.value(),
                                           range.next_offset.value() - 1));
  }
  if (range.base_offset < partition.log_start || range.next_offset > partition.log_end) {
    return base::error(EINVAL, fmt::format("offsets {} are not in the log, which has {}",
                                           shown(range.base_offset, range.next_offset),
                                           shown(partition.log_start, partition.log_end)));
  }
  bool any = false;
  for (const Damage& damage : damages_) {
    if (damage.next_offset <= range.base_offset || damage.base_offset >= range.next_offset) {
      continue;
    }
    any = true;
    if (std::max(damage.base_offset, partition.log_start) < range.base_offset ||
        damage.next_offset > range.next_offset) {
      return base::error(EINVAL, fmt::format("offsets {} are lost together: name all of them",
                                             shown(damage.base_offset, damage.next_offset)));
    }
  }
  if (any) return {};
  return base::error(EINVAL, fmt::format("nothing is damaged at offsets {}",
                                         shown(range.base_offset, range.next_offset)));
}

base::Status GiveUp::check_readable(const Recovered& partition,
                                    std::span<const OffsetRange> ranges) {
  ReadableCheck check(ranges);
  for (size_t i = 0; i < partition.segments.size(); ++i) {
    CHECK_OK(inspection_.run(partition, i, check));
  }
  return {};
}

bool GiveUp::is_given_up(const Damage& damage, std::span<const OffsetRange> ranges) const {
  return std::ranges::any_of(ranges, [&](const OffsetRange& range) {
    return damage.base_offset < range.next_offset && range.base_offset < damage.next_offset;
  });
}

base::Result<std::vector<Damage>> GiveUp::run(const Recovered& partition,
                                              std::span<const OffsetRange> ranges) {
  TRY(damages_, inspection_.find_damage(partition));
  for (const OffsetRange& range : ranges) CHECK_OK(check_range(partition, range));
  CHECK_OK(check_readable(partition, ranges));
  std::vector<Damage> given_up;
  std::vector<size_t> segments;
  for (size_t i = 0; i < partition.segments.size(); ++i) {
    const auto mine = [&](const Damage& damage) {
      return damage.segment == partition.segments[i].name;
    };
    size_t count = 0;
    for (const Damage& damage : damages_) {
      if (!mine(damage) || !is_given_up(damage, ranges)) continue;
      given_up.push_back(damage);
      ++count;
    }
    if (count == 0) continue;
    segments.push_back(i);
    for (const Damage& damage : damages_) {
      if (!mine(damage) || is_given_up(damage, ranges)) continue;
      return base::error(EINVAL,
                         fmt::format("offsets {} in the same segment are damaged, too: a segment "
                                     "is repaired as a whole, so name them as well",
                                     shown(damage.base_offset, damage.next_offset)));
    }
  }
  uint64_t pass = partition.last_pass;
  for (const size_t index : segments) CHECK_OK(rewrite(partition, index, ++pass));
  return given_up;
}

// Clean is what was clean before, below the greatest clean end of all names; this one adds nothing.
base::Status GiveUp::rewrite(const Recovered& partition, size_t index, uint64_t pass) {
  const log::SegmentName& old = partition.segments[index].name;
  const model::Offset clean = old.is_cleaned() ? old.clean_end : model::Offset(0);
  const log::SegmentName name(old.base_offset, Inspection::end_of(partition, index), clean, pass);
  int32_t epoch = 0;
  for (const log::EpochStart& start : partition.epochs) {
    if (start.start_offset <= name.base_offset) epoch = start.epoch;
  }
  SegmentCopy copy(core_, directory_, name, epoch);
  CHECK_OK(copy.start());
  Copy sound(copy);
  CHECK_OK(inspection_.run(partition, index, sound));
  return copy.commit();
}

}  // namespace weir::partition
