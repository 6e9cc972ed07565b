#include "engine/broker/transactions_host.h"

#include <utility>

#include "engine/catalog/topic_name.h"
#include "engine/model/ports.h"

namespace weir::broker {

void TransactionsHost::append(transaction::TransactionAppend& append) {
  if (free_writes_.empty()) {
    writes_.push_back(std::make_unique<Write>(*this));
    free_writes_.push_back(writes_.back().get());
  }
  Write& write = *free_writes_.back();
  free_writes_.pop_back();
  write.append = &append;
  const catalog::Topic* const topic = catalog_.find(catalog::kTransactionStateTopic);
  // Without the topic the serial is one that no partition has, and the answer says so.
  write.request.key = {topic ? topic->serial : model::TopicSerial(0), append.partition};
  write.request.batch = append.batch;
  write.request.error = model::ErrorCode::none;
  write.request.outcome_unknown = false;
  io_.mailboxes.send(io_.index, model::ports::kAppend, write.request);
}

void TransactionsHost::Write::on_reply(io::Message&) {
  transaction::TransactionAppend& done = *std::exchange(append, nullptr);
  done.error = request.error;
  done.outcome_unknown = request.outcome_unknown;
  owner.free_writes_.push_back(this);
  done.complete();
}

void TransactionsHost::allocate(transaction::ProducerIdWait& wait) {
  if (free_allocations_.empty()) {
    allocations_.push_back(std::make_unique<Allocation>(*this));
    free_allocations_.push_back(allocations_.back().get());
  }
  Allocation& allocation = *free_allocations_.back();
  free_allocations_.pop_back();
  allocation.caller = &wait;
  producer_ids_.allocate(allocation.wait);
}

void TransactionsHost::Allocation::on_id(catalog::ProducerIds::Wait&) {
  transaction::ProducerIdWait& done = *std::exchange(caller, nullptr);
  done.error = wait.error;
  done.id = wait.id;
  owner.free_allocations_.push_back(this);
  done.complete();
}

std::optional<transaction::MarkerRoute> TransactionsHost::route(model::PartitionKey key) {
  const catalog::Topic* const topic = catalog_.find(key.topic);
  if (topic == nullptr || key.index.value() >= topic->partition_count) return std::nullopt;
  const bool offsets = topic->name == catalog::kConsumerOffsetsTopic;
  return transaction::MarkerRoute{
      .core = catalog_.home_core(*topic, key.index),
      .port = offsets ? model::ports::kGroupMarker : model::ports::kWriteMarker};
}

std::optional<model::TopicSerial> TransactionsHost::serial_of(std::string_view topic) {
  const catalog::Topic* const found = catalog_.find(topic);
  if (found == nullptr) return std::nullopt;
  return found->serial;
}

}  // namespace weir::broker
