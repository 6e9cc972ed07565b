#include "engine/partition/space_reserve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/log/file_names.h"
#include "io/base/assert.h"
#include "io/base/logging.h"

namespace weir::partition {
namespace {

using base::operator""_ms;

constexpr int64_t kFirstLook_ns = 100_ms;  // a start has better things to do
constexpr int64_t kLookAgain_ns = 300_ms;

}  // namespace

SpaceReserve::SpaceReserve(io::CoreIo& core, const Config& config, Metrics& metrics,
                           log::SegmentPool& pool, const std::string& directory)
    : core_(core),
      config_(config),
      metrics_(metrics),
      pool_(pool),
      path_(fmt::format("{}/{}", directory, log::reserve_file(core.index.value()))) {
  op_.bind<&SpaceReserve::on_step>(*this);
  timer_.bind<&SpaceReserve::on_timer>(*this);
}

SpaceReserve::~SpaceReserve() { core_.loop.timers().cancel(timer_); }

void SpaceReserve::start() {
  ASSERT(stage_ == Stage::closed && !stopping_);
  core_.loop.timers().arm_after(timer_, kFirstLook_ns);
}

void SpaceReserve::stop() {
  stopping_ = true;
  core_.loop.timers().cancel(timer_);
  if (stage_ == Stage::idle) next();
}

void SpaceReserve::on_no_room() {
  if (stage_ == Stage::closed || stopping_) return;
  became_short();
}

void SpaceReserve::became_short() {
  pool_.on_no_room();
  if (!timer_.armed()) core_.loop.timers().arm_after(timer_, kLookAgain_ns);
  if (short_) return;
  short_ = true;
  metrics_.disk_full = 1;
  base::log_error("partition",
                  "disk is full core={}: what needs new space is refused until there is room; "
                  "reserve_bytes={} for commits and deletions",
                  core_.index.value(), held_);
}

void SpaceReserve::give(io::Op& done) {
  if (!pool_.empty()) return pool_.give(done);
  if (stage_ == Stage::closed || stage_ == Stage::closing || stopping_) {
    return core_.loop.post(done, -ENOSPC);
  }
  asked_.push_back(&done);
  if (stage_ == Stage::idle) next();
}

uint64_t SpaceReserve::give_size() const { return std::min(kStep, held_); }

void SpaceReserve::on_timer() {
  if (stopping_) return;
  if (stage_ == Stage::closed) return advance(Stage::opening);
  look_due_ = true;
  if (stage_ == Stage::idle) next();
}

// What comes first goes first: those who ask, the end, growth.
void SpaceReserve::next() {
  stage_ = Stage::idle;
  while (!asked_.empty() && (held_ == 0 || stopping_)) {
    became_short();
    core_.loop.post(*asked_.front(), -ENOSPC);
    asked_.pop_front();
  }
  if (!asked_.empty()) return advance(Stage::giving);
  if (stopping_) return advance(Stage::closing);
  if (!std::exchange(look_due_, false)) return;
  const auto whole = static_cast<uint64_t>(config_.reserve_bytes);
  if (held_ < whole) return advance(Stage::growing);
  if (short_) return advance(Stage::probing);
}

void SpaceReserve::advance(Stage stage) {
  stage_ = stage;
  const auto whole = static_cast<uint64_t>(config_.reserve_bytes);
  switch (stage) {
    case Stage::opening:
      return core_.disk.open(op_, path_.c_str(), {.create = true});
    case Stage::sizing: return core_.disk.truncate(op_, file_, 0);
    case Stage::growing:
      return core_.disk.allocate(op_, file_, held_, std::min(kStep, whole - held_));
    case Stage::probing: return core_.disk.allocate(op_, file_, held_, kStep);
    case Stage::trimming: return core_.disk.truncate(op_, file_, held_);
    case Stage::giving: return core_.disk.truncate(op_, file_, held_ - give_size());
    case Stage::syncing: return core_.disk.sync(op_, file_);
    case Stage::closing:
      return core_.disk.close(op_, std::exchange(file_, io::kNoFile));
    case Stage::closed:
    case Stage::idle: break;
  }
  UNREACHABLE("space reserve stage {}", static_cast<int>(stage));
}

void SpaceReserve::look_again() {
  if (!timer_.armed() && !stopping_) core_.loop.timers().arm_after(timer_, kLookAgain_ns);
}

void SpaceReserve::on_step(io::Op& op) {
  const int32_t result = op.result();
  const auto whole = static_cast<uint64_t>(config_.reserve_bytes);
  switch (stage_) {
    case Stage::opening:
      if (result < 0) {
        // Without a file there is no reserve; the next look tries again.
        stage_ = Stage::closed;
        return look_again();
      }
      file_ = io::FileId(result);
      // A file of the run before may have holes: it is made anew.
      return advance(Stage::sizing);
    case Stage::sizing:
      look_due_ = true;
      return next();
    case Stage::growing:
      if (result < 0) {
        became_short();
        return advance(Stage::trimming);
      }
      held_ += std::min(kStep, whole - held_);
      look_due_ = held_ < whole || short_;
      return next();
    case Stage::probing:
      if (result < 0) {
        look_again();
      } else {
        short_ = false;
        metrics_.disk_full = 0;
        base::log_info("partition", "disk has room again core={}", core_.index.value());
      }
      return advance(Stage::trimming);
    case Stage::trimming: return next();
    case Stage::giving:
      if (result >= 0) {
        held_ -= give_size();
        // Some file systems have the blocks again only when that is durable.
        return advance(Stage::syncing);
      }
      [[fallthrough]];
    case Stage::syncing: {
      io::Op& done = *asked_.front();
      asked_.pop_front();
      became_short();
      core_.loop.post(done, std::min(result, 0));
      return next();
    }
    case Stage::closing:
      stage_ = Stage::closed;
      return;
    case Stage::closed:
    case Stage::idle: break;
  }
  UNREACHABLE("space reserve stage {}", static_cast<int>(stage_));
}

}  // namespace weir::partition
