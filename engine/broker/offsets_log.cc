#include "engine/broker/offsets_log.h"

#include <utility>

#include "engine/model/ports.h"

namespace weir::broker {
void OffsetsLog::append(group::GroupAppend& append) {
  if (free_.empty()) {
    writes_.push_back(std::make_unique<Write>(*this));
    free_.push_back(writes_.back().get());
  }
  Write& write = *free_.back();
  free_.pop_back();
  write.append = &append;
  const catalog::Topic* topic = catalog_.find(kOffsetsTopic);
  // Without the topic the serial is one that no partition has, and the answer says so.
  write.request.key = {topic ? topic->serial : model::TopicSerial(0), append.partition};
  write.request.batch = append.batch;
  write.request.origin = append.origin;
  write.request.error = model::ErrorCode::none;
  write.request.outcome_unknown = false;
  io_.mailboxes.send(io_.index, model::ports::kAppend, write.request);
}

void OffsetsLog::Write::on_reply(io::Message&) {
  group::GroupAppend& done = *std::exchange(append, nullptr);
  done.error = request.error;
  done.outcome_unknown = request.outcome_unknown;
  owner.free_.push_back(this);
  done.complete();
}

}  // namespace weir::broker
