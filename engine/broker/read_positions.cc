#include "engine/broker/read_positions.h"

#include "engine/model/ports.h"
#include "engine/model/setting.h"

namespace weir::broker {

GroupPositions::GroupPositions(io::CoreIo& io, const catalog::Catalog& catalog,
                               group::GroupCoordinator& groups, std::string_view holding)
    : io_(io), catalog_(catalog), groups_(groups) {
  call_.bind_reply<&GroupPositions::on_reply>(*this);
  io.mailboxes.listen<&GroupPositions::on_asked>(model::ports::kReadPositions, *this);
  while (!holding.empty()) {
    const size_t comma = holding.find(',');
    const auto name = model::setting_detail::trim(holding.substr(0, comma));
    if (!name.empty()) holding_.emplace(name);
    if (comma == std::string_view::npos) break;
    holding.remove_prefix(comma + 1);
  }
}

void GroupPositions::update(io::Op& done) {
  done_ = &done;
  positions_.clear();
  next_core_ = 0;
  ask();
}

void GroupPositions::ask() {
  call_.home = io_.index;
  call_.found.clear();
  io_.mailboxes.send(io::CoreIndex(next_core_), model::ports::kReadPositions, call_);
}

void GroupPositions::on_reply(io::Message&) {
  for (auto& [key, position] : call_.found) positions_[key].push_back(std::move(position));
  if (++next_core_ < io_.core_count) return ask();
  io_.loop.post(*std::exchange(done_, nullptr));
}

void GroupPositions::on_asked(io::Message& message) {
  auto& call = static_cast<PositionsCall&>(message);
  groups_.visit_offsets([&](const std::string& group, const std::string& name, int32_t index,
                            const group::CommittedOffset& committed) {
    const catalog::Topic* const topic = catalog_.find(name);
    const model::PartitionIndex partition(index);
    // Of a topic that was deleted and made again: nobody has read the new one so far.
    const bool same_life =
        topic != nullptr && (committed.topic_id.is_zero() || committed.topic_id == topic->id);
    if (!same_life || index < 0 || index >= topic->partition_count ||
        catalog_.home_core(*topic, partition) != call.home) {
      return;
    }
    call.found.push_back({{topic->serial, partition},
                          {.group = group,
                           .offset = model::Offset(committed.offset),
                           .holds = holding_.contains(group)}});
  });
  io_.mailboxes.reply(call);
}

std::span<const partition::ReadPosition> GroupPositions::of(model::PartitionKey key) const {
  const auto found = positions_.find(key);
  if (found == positions_.end()) return {};
  return found->second;
}

}  // namespace weir::broker
