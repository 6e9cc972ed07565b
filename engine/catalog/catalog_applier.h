#pragma once
// CatalogApplier: brings the changes that core 0 made durable into this core's replica and tells
// the rest of the core. One per core, core 0 included. At most one update is here at a time; core 0
// sends the next only when all cores have given this one back.

#include <deque>
#include <memory>

#include "engine/catalog/catalog.h"
#include "engine/catalog/messages.h"
#include "io/core_io.h"
#include "io/op.h"

namespace weir::catalog {

class CatalogApplier {
 public:
  // All references outlive the applier, and it the loop's last turn.
  CatalogApplier(io::CoreIo& core, Catalog& catalog, CatalogListener& listener);

  // By a listener that answered `later`, from a later turn of the loop or from the same call stack.
  void complete();

  bool idle() const { return update_ == nullptr; }

 private:
  void on_update(io::Message& message);
  void on_continue(io::Op& op);
  void run();
  CatalogListener::Done step();
  CatalogListener::Done apply(const Change& change);

  io::CoreIo& core_;
  Catalog& catalog_;
  CatalogListener& listener_;
  io::Op continue_op_;
  ApplyUpdate* update_ = nullptr;                  // core 0's, until replied
  size_t next_change_ = 0;                         // of update_->changes
  bool waiting_ = false;                           // for complete()
  std::unique_ptr<Topic> removed_;                 // being forgotten by the listener
  std::deque<model::TopicSerial> config_changed_;  // by a broker setting, not told yet
  bool broker_config_changed_ = false;             // not told yet
};

}  // namespace weir::catalog
