#pragma once
// TransactionsHost: what the transaction coordinator of this core has of the broker: the partitions
// of __transaction_state whose home is this core, the way to every other partition, producer ids.
// Owned by Core.

#include <memory>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/producer_ids.h"
#include "engine/partition/messages.h"
#include "engine/transaction/transaction_host.h"
#include "io/core_io.h"

namespace weir::broker {

class TransactionsHost : public transaction::TransactionHost {
 public:
  TransactionsHost(io::CoreIo& io, const catalog::Catalog& catalog,
                   catalog::ProducerIds& producer_ids, int32_t coordinator_epoch)
      : io_(io),
        catalog_(catalog),
        producer_ids_(producer_ids),
        coordinator_epoch_(coordinator_epoch) {}

  void append(transaction::TransactionAppend& append) override;
  void allocate(transaction::ProducerIdWait& wait) override;
  std::optional<transaction::MarkerRoute> route(model::PartitionKey key) override;
  std::optional<model::TopicSerial> serial_of(std::string_view topic) override;
  int32_t coordinator_epoch() const override { return coordinator_epoch_; }

 private:
  struct Write {
    explicit Write(TransactionsHost& its_owner) : owner(its_owner) {
      request.bind_reply<&Write::on_reply>(*this);
    }
    void on_reply(io::Message& message);

    TransactionsHost& owner;
    partition::AppendRequest request;
    transaction::TransactionAppend* append = nullptr;
  };
  struct Allocation {
    explicit Allocation(TransactionsHost& its_owner) : owner(its_owner) {
      wait.bind<&Allocation::on_id>(*this);
    }
    void on_id(catalog::ProducerIds::Wait&);

    TransactionsHost& owner;
    catalog::ProducerIds::Wait wait;
    transaction::ProducerIdWait* caller = nullptr;
  };

  io::CoreIo& io_;
  const catalog::Catalog& catalog_;
  catalog::ProducerIds& producer_ids_;
  const int32_t coordinator_epoch_;
  std::vector<std::unique_ptr<Write>> writes_;
  std::vector<Write*> free_writes_;
  std::vector<std::unique_ptr<Allocation>> allocations_;
  std::vector<Allocation*> free_allocations_;
};

}  // namespace weir::broker
