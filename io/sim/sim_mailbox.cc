#include "io/sim/sim_mailbox.h"

#include "io/sim/sim_loop.h"

namespace weir::io::sim {

MailPost::MailPost(uint64_t seed, Scheduler& scheduler, Faults& faults)
    : scheduler_(scheduler), faults_(faults), random_(seed, "mailbox") {}

void MailPost::resize(uint16_t core_count) {
  abandon_all();
  core_count_ = core_count;
  ends_.assign(core_count, nullptr);
  on_way_.assign(size_t{core_count} * core_count, {});
}

void MailPost::connect(CoreIndex core, SimMailboxes& mailboxes) {
  ends_[core.value()] = &mailboxes;
}

void MailPost::carry(CoreIndex from, CoreIndex to, Message& message) {
  ASSERT(to.value() < core_count_, "no core {}", to.value());
  const size_t pair = size_t{from.value()} * core_count_ + to.value();
  on_way_[pair].push_back(&message);
  scheduler_.after(draw_latency(random_, faults_.mailbox_delay_ns), *this, 0, pair);
}

// One event per message, but the oldest message of the pair goes: order holds whatever the delays.
void MailPost::on_event(uint32_t, uint64_t pair) {
  if (pair >= on_way_.size() || on_way_[pair].empty()) return;  // scheduled before a crash
  Message* message = on_way_[pair].front();
  on_way_[pair].pop_front();
  ends_[pair % core_count_]->arrive(*message);
}

void MailPost::note_departure(Message& message) {
  const auto [entry, leaves] = away_.emplace(&message, false);
  if (!leaves) entry->second = true;
}

void MailPost::note_delivery(Message& message) {
  const auto entry = away_.find(&message);
  if (entry != away_.end() && entry->second) away_.erase(entry);
}

void MailPost::abandon_all() {
  for (auto& queue : on_way_) queue.clear();
  for (const auto& [message, returns] : away_) SimMailboxes::drop(*message);
  away_.clear();
}

SimMailboxes::SimMailboxes(CoreIndex self, Scheduler& scheduler, MailPost& post, SimLoop& loop)
    : Mailboxes(self), scheduler_(scheduler), post_(post), loop_(loop) {
  post.connect(self, *this);
}

void SimMailboxes::transport(CoreIndex to, Message& message) {
  if (scheduler_.dead()) return drop(message);
  post_.note_departure(message);
  if (to == self()) arrive(message);
  else post_.carry(self(), to, message);
}

void SimMailboxes::arrive(Message& message) {
  arrived_.push_back(&message);
  loop_.schedule_turn();
}

bool SimMailboxes::deliver_arrived() {
  size_t count = arrived_.size();
  const bool any = count > 0;
  while (count-- > 0 && !arrived_.empty()) {
    Message* message = arrived_.front();
    arrived_.pop_front();
    scheduler_.trace("message", self().value());
    post_.note_delivery(*message);
    deliver(*message);
  }
  return any;
}

void SimMailboxes::abandon_all() { arrived_.clear(); }

}  // namespace weir::io::sim
