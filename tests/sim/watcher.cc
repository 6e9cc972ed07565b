#include "tests/sim/watcher.h"

namespace weir::simtest {
namespace {

constexpr uint32_t kCloseLooks = 12;
constexpr int64_t kCloseNs = 10'000;  // a fraction of what a write takes
constexpr int64_t kIdleNs = 20'000'000;

}  // namespace

void Watcher::look_closely() {
  close_looks_ = kCloseLooks;
  if (outstanding() == 0) wake_after(kCloseNs);
}

void Watcher::act() {
  if (outstanding() > 0) return;
  floors_ = context_.model.floors(where_);
  FetchOptions options;
  options.wait_ms_max = 0;
  const FetchPart part{where_, position_};
  send(Api::fetch, 11, fetch_request(options, std::span(&part, 1)));
}

void Watcher::on_response(int32_t, Api, Reader& body) {
  for (const auto& [where, result] : read_fetch(body)) {
    if (result.error == codes::kOffsetOutOfRange) {
      position_ = result.log_start_offset >= 0 ? result.log_start_offset : position_ + 1;
      continue;
    }
    if (result.error != codes::kNone) continue;
    context_.model.saw_offsets(where, floors_, result.log_start_offset, result.last_stable_offset,
                               result.high_watermark);
    ByteSpan rest = result.records;
    while (const auto batch = take_batch(rest)) {
      context_.model.observed(where, *batch);
      position_ = batch->next_offset();
    }
  }
  const bool closely = close_looks_ > 0;
  if (closely) --close_looks_;
  wake_after(closely ? kCloseNs : kIdleNs);
}

}  // namespace weir::simtest
