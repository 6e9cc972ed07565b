#include "engine/partition/give_up.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/log/buffer_pool.h"
#include "engine/log/cleaned_file.h"
#include "io/base/assert.h"

namespace weir::partition {
namespace {

struct Waiter {
  Waiter() { op.bind<&Waiter::on_op>(*this); }
  void on_op(io::Op&) {}
  io::Op op;
};

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

// Copies what is sound. The last batch says where the segment ends, if need be without records.
class Copy final : public InspectionVisitor {
 public:
  // `epoch`: under which the first offset was written.
  Copy(io::CoreIo& core, std::string directory, const log::SegmentName& name, int32_t epoch)
      : core_(core),
        directory_(std::move(directory)),
        name_(name),
        pool_(0),
        file_(core, pool_),
        epoch_(epoch) {}
  ~Copy() override {
    if (file_.is_open() && !file_.busy()) step([&](io::Op& op) { file_.abandon(op); });
  }

  base::Status start() {
    return step([&](io::Op& op) { file_.start(directory_, name_, op); });
  }
  base::Status on_batch(std::span<const std::byte> bytes) override {
    epoch_ = log::BatchView(bytes).leader_epoch();
    file_.add(bytes);
    if (!file_.wants_write()) return {};
    return step([&](io::Op& op) { file_.write(op); });
  }
  base::Status on_damage(const Damage&) override { return {}; }
  base::Status commit() {
    if (file_.next_offset() < name_.next_offset) add_end();
    CHECK_OK(step([&](io::Op& op) { file_.commit(op); }));
    file_.take_segment();
    return {};
  }

 private:
  void add_end() {
    std::vector<std::byte> bytes(log::kBatchHeaderSize);
    const auto put = [&](size_t at, auto value) { base::store_be(bytes.data() + at, value); };
    log::set_base_offset(bytes, name_.next_offset - 1);
    log::set_leader_epoch(bytes, epoch_);
    put(log::batch_position::kMagic, log::kBatchMagic);
    put(log::batch_position::kBaseTimestamp, model::kNoTimestamp);
    put(log::batch_position::kMaxTimestamp, model::kNoTimestamp);
    put(log::batch_position::kProducerId, model::kNoProducerId.value());
    put(log::batch_position::kProducerEpoch, int16_t{-1});
    put(log::batch_position::kBaseSequence, int32_t{-1});
    log::seal_batch(bytes);
    file_.add(bytes);
  }
  template <class Begin>
  base::Status step(const Begin& begin) {
    Waiter waiter;
    begin(waiter.op);
    while (file_.busy() && file_.pending().armed()) core_.loop.run_until(file_.pending());
    // Only in a simulated world that died is it busy with nothing to wait for.
    if (file_.busy()) return base::error(EIO, "the machine stopped while a segment was written");
    core_.loop.run_until(waiter.op);
    if (waiter.op.armed()) waiter.op.abandon();
    if (waiter.op.result() >= 0) return {};
    return base::error(-waiter.op.result(),
                       fmt::format("cannot write {}{}: {}",
                                   log::segment_file(directory_, name_, log::kLogSuffix),
                                   file_.in_doubt() ? ", whether it counts the next start will say"
                                                    : "",
                                   std::strerror(-waiter.op.result())));
  }

  io::CoreIo& core_;
  std::string directory_;
  log::SegmentName name_;
  log::BufferPool pool_;
  log::CleanedFile file_;
  int32_t epoch_;  // of the last batch
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
  Copy copy(core_, directory_, name, epoch);
  CHECK_OK(copy.start());
  CHECK_OK(inspection_.run(partition, index, copy));
  return copy.commit();
}

}  // namespace weir::partition
