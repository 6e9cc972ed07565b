#include "engine/partition/log_start.h"

#include <algorithm>
#include <utility>

#include "engine/model/planted.h"
#include "engine/partition/segment_keeper.h"
#include "io/base/assert.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::partition {

using model::ErrorCode;

LogStart::LogStart(Services& services, log::Log& log, Owner& owner)
    : services_(services), log_(log), owner_(owner), marker_(services.io) {
  op_.bind<&LogStart::on_marked>(*this);
}

void LogStart::restore(std::vector<model::Offset> markers, const std::vector<DeadFile>& dead) {
  markers_ = std::move(markers);
  wanted_ = log_.start_offset();
  dead_ = dead;
}

void LogStart::move(model::Offset offset) {
  ASSERT(offset <= log_.end_offset());
  if (offset <= log_.start_offset() || offset <= wanted_) return;
  wanted_ = offset;
  if (!marker_.busy()) write_marker();
}

void LogStart::move(model::Offset offset, DeleteRecordsRequest& request) {
  if (offset <= log_.start_offset()) return answer(request, ErrorCode::none);
  waiting_.push_back({&request, offset});
  move(offset);
}

void LogStart::write_marker() {
  writing_ = wanted_;
  marker_.start(log_.directory(), writing_, markers_, op_);
}

void LogStart::on_marked(io::Op& op) {
  if (op.result() < 0) {
    base::log_error("partition", "cannot move log start directory={} offset={} error={}",
                    log_.directory(), writing_.value(), -op.result());
    wanted_ = log_.start_offset();
    fail_waiting(ErrorCode::kafka_storage_error);
    if (!lacks_resource(-op.result())) owner_.on_start_failed(-op.result());
    else services_.segment_pool.on_no_room();
    return owner_.on_start_moved();
  }
  markers_.assign(1, writing_);
  log_.advance_start(writing_);
  ++services_.metrics.start_moves;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.offset > log_.start_offset()) return false;
    answer(*waiting.request, ErrorCode::none);
    return true;
  });
  if (wanted_ > writing_) write_marker();
  retire();
  owner_.on_start_moved();
}

void LogStart::answer(DeleteRecordsRequest& request, ErrorCode error) {
  request.error = error;
  request.low_watermark = error == ErrorCode::none ? log_.start_offset() : model::kNoOffset;
  services_.io.mailboxes.reply(request);
}

void LogStart::fail_waiting(ErrorCode error) {
  for (const Waiting& waiting : std::exchange(waiting_, {})) answer(*waiting.request, error);
}

void LogStart::retire() {
  if (!dead_.empty() && owner_.producers_kept(log_.segments().front()->base_offset)) {
    for (const DeadFile& file : std::exchange(dead_, {})) {
      services_.remover.remove(log_.directory(), file.name, file.size, services_.io.clock.now());
    }
  }
  while (log_.dead_end() && owner_.producers_kept(*log_.dead_end())) {
    auto segment = log_.take_dead();
    ++services_.metrics.segments_dropped;
    services_.metrics.dropped_bytes += segment->end;
    retired_.push_back({std::move(segment), delete_time()});
  }
  std::erase_if(retired_, [&](const Retired& retired) {
    const log::Segment& segment = *retired.segment;
    // Whoever reads a file that became another segment reads that one's bytes.
    const bool read = segment.users > 0;
    if (read && !model::planted(model::Bug::recycled_while_read)) return false;
    services_.remover.remove(log_.directory(), segment.name, segment.end, retired.due,
                             !segment.damaged);
    return !read;
  });
}

void LogStart::retire(std::vector<std::unique_ptr<log::Segment>> replaced) {
  for (auto& segment : replaced) retired_.push_back({std::move(segment), delete_time()});
  retire();
}

bool LogStart::retired_are_read() const {
  return std::ranges::any_of(retired_, [](const auto& item) { return item.segment->users > 0; });
}

io::Instant LogStart::delete_time() const {
  return services_.io.clock.now() + base::ms_to_ns(delete_delay_ms_);
}

}  // namespace weir::partition
