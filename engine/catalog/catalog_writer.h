#pragma once
// CatalogWriter: the one place where the catalog changes. Lives on core 0, from start to stop.
//
// Changes that have arrived in one turn of the loop form a batch: checked in order against the
// replica of core 0, written as one record, durable with that one write; then told to every core;
// when all cores serve the change, the requests are answered. Only then the next batch begins, so
// the replica of core 0 always says what the log says. Two changes of one topic never share a
// batch.
//
//   idle → gathering → appending → applying → marking → idle
//                        ├→ asking → appending        (no space: some of the reserve)
//                        └→ truncating → gathering    (none there either: nothing has changed)
//
// marking writes a frontier record (catalog_log.h) when no change waits.
//
// Errors: without space, and without a reserve of it, every request of the batch is refused and the
// file cut back to what it was.
// Any other error of the file leaves it unknown what is on disk: no change is accepted until the
// next start (RELIABILITY rule 4); what exists is served on.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_log.h"
#include "engine/catalog/catalog_store.h"
#include "engine/catalog/config_ops.h"
#include "engine/catalog/messages.h"
#include "engine/partition/space_reserve.h"
#include "io/core_io.h"
#include "io/op.h"
#include "io/whole_transfer.h"

namespace weir::catalog {

class CatalogWriter {
 public:
  // catalog: core 0's replica, built from store.image. The file is closed by stop().
  CatalogWriter(io::CoreIo& core, const Catalog& catalog, const CatalogStore& store);
  ~CatalogWriter();

  // Lets what is in progress end, closes the file, then runs `done`. Nothing may be sent
  // afterwards.
  void stop(io::Op& done);

  // What it takes space from when the disk is full; outlives the writer.
  void use_reserve(partition::SpaceReserve& reserve) { reserve_ = &reserve; }

  bool broken() const { return broken_; }
  // Runs once, with -errno, when the file failed; the broker then ends the process.
  void on_failure(io::Op& op) { failure_op_ = &op; }

 private:
  enum class Stage : uint8_t {
    idle,
    gathering,
    appending,
    asking,
    truncating,
    syncing,
    applying,
    marking,
    stopped
  };

  // One waiting request: a change of the catalog or a block of producer ids.
  struct Item {
    ChangeRequest* change = nullptr;
    ProducerIdBlock* block = nullptr;
  };

  void on_change(io::Message& message);
  void on_producer_ids(io::Message& message);
  void on_gather(io::Op& op);
  void on_appended(io::WholeWrite& write);
  void on_given(io::Op& op);
  void on_truncated(io::Op& op);
  void on_synced(io::Op& op);
  void on_applied(io::Message& message);
  void on_marked(io::WholeWrite& write);

  void enqueue(Item item);
  void gather();
  void take_batch();
  bool conflicts(const Item& item) const;
  Verdict prepare(ChangeRequest& request);
  Verdict prepare_create(ChangeRequest& request);
  Verdict prepare_delete(ChangeRequest& request);
  Verdict prepare_partitions(ChangeRequest& request);
  Verdict prepare_topic_config(ChangeRequest& request);
  Verdict prepare_broker_config(ChangeRequest& request);
  Verdict prepare_quotas(ChangeRequest& request);
  Verdict prepare_group_config(ChangeRequest& request);
  Verdict prepare_block(ProducerIdBlock& block);
  Change& add_change(ChangeKind kind);
  void append();
  void cut_back();
  void apply();
  void answer_batch();
  void fail_batch(std::string_view detail);
  void mark();
  void next();
  void break_off(std::string_view action, int error);
  void refuse_item(const Item& item, const Verdict& verdict);

  io::CoreIo& core_;
  const Catalog& catalog_;
  const io::FileId file_;
  LogTail tail_;       // behind the last durable record
  LogTail next_tail_;  // behind the record being written
  model::TopicSerial next_serial_;
  model::ProducerId next_producer_id_;
  Stage stage_ = Stage::idle;
  bool broken_ = false;
  bool marked_ = true;  // the frontier at tail_ is in the file

  std::deque<Item> queue_;                   // in order of arrival
  std::vector<Item> batch_;                  // prepared; answered together
  std::vector<Change> changes_;              // of the batch
  std::unordered_set<std::string> touched_;  // collision keys of the batch's topics; entities
  int64_t batch_partitions_ = 0;             // that the batch adds
  size_t batch_entities_ = 0;                // with their first quotas in the batch
  size_t batch_groups_ = 0;                  // with their first settings in the batch
  std::vector<std::byte> record_;
  std::vector<std::unique_ptr<ApplyUpdate>> updates_;  // one per core
  uint16_t outstanding_ = 0;                           // updates not yet back

  partition::SpaceReserve* reserve_ = nullptr;
  io::Op gather_op_;
  io::Op asked_op_;
  io::Op truncate_op_;
  io::Op sync_op_;
  io::WholeWrite append_;
  io::WholeWrite mark_;
  io::Op* failure_op_ = nullptr;
  io::Op* stop_op_ = nullptr;  // somebody waits for the end
};

}  // namespace weir::catalog
