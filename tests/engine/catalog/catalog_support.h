#pragma once
// What the catalog's tests share: a simulated node that has nothing but a catalog, started as the
// broker starts it, and driven request by request.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_applier.h"
#include "engine/catalog/catalog_store.h"
#include "engine/catalog/catalog_writer.h"
#include "engine/catalog/file_io.h"
#include "engine/catalog/messages.h"
#include "engine/catalog/node_identity.h"
#include "engine/model/ports.h"
#include "io/sim/sim_world.h"

namespace weir::catalog {

inline constexpr int64_t kTestSecond = 1'000'000'000;

// Everything of one core that a change of the catalog touches; notes what it is told.
class TestCore : public CatalogListener {
 public:
  TestCore(io::CoreIo& io, const Settings& settings, const CatalogImage& image)
      : io_(io), catalog(settings, io.core_count, image), applier(io, catalog, *this) {
    timer_.bind<&TestCore::on_timer>(*this);
  }

  Done on_topic_created(const Topic& topic) override { return note("created " + topic.name); }
  Done on_partitions_added(const Topic& topic, int32_t old_count) override {
    return note("partitions " + topic.name + " " + std::to_string(old_count) + " " +
                std::to_string(topic.partition_count));
  }
  Done on_topic_deleted(const Topic& topic) override { return note("deleted " + topic.name); }
  Done on_topic_config_changed(const Topic& topic) override { return note("config " + topic.name); }
  Done on_broker_config_changed() override { return note("broker config"); }

 private:
  Done note(std::string event) {
    events.push_back(std::move(event));
    if (delay_ns == 0) return Done::now;
    io_.loop.timers().arm_after(timer_, delay_ns);
    return Done::later;
  }
  void on_timer() { applier.complete(); }

  io::CoreIo& io_;
  io::Timer timer_;

 public:
  Catalog catalog;
  CatalogApplier applier;
  std::vector<std::string> events;
  int64_t delay_ns = 0;  // how long this core takes to serve a change
};

class TestNode {
 public:
  explicit TestNode(io::sim::SimWorld& world, Settings settings = {})
      : world_(world), settings_(std::move(settings)) {}

  base::Status start() {
    io::CoreIo& io = world_.core(0);
    CHECK_OK(world_.platform().lock("/data", 10'000));
    FileIo files(io.loop, io.disk, "/data");
    TRY(meta, load_meta(files, io.disk, io.random, 1));
    TRY(store, open_catalog(files, io.random,
                            meta.catalog_created ? IfMissing::refuse : IfMissing::create));
    CHECK_OK(start_meta(files, meta));
    for (uint16_t i = 0; i < world_.core_count(); ++i) {
      cores.push_back(std::make_unique<TestCore>(world_.core(i), settings_, store.image));
    }
    writer = std::make_unique<CatalogWriter>(io, cores[0]->catalog, store);
    return {};
  }

  // False: the world crashed, or nothing came within ten seconds.
  bool change(ChangeRequest& request, uint16_t from = 0) {
    send(request, from);
    return answered(request);
  }
  void send(ChangeRequest& request, uint16_t from = 0) {
    request.bind_reply<&TestNode::on_reply>(*this);
    world_.core(from).mailboxes.send(io::CoreIndex(0), model::ports::kCatalogChange, request);
  }
  bool reserve(ProducerIdBlock& block, uint16_t from = 0) {
    block.bind_reply<&TestNode::on_reply>(*this);
    world_.core(from).mailboxes.send(io::CoreIndex(0), model::ports::kProducerIds, block);
    return answered(block);
  }
  // Lets the log end with a frontier and closes it.
  bool stop() {
    stop_op_.bind<&TestNode::on_stopped>(*this);
    writer->stop(stop_op_);
    return world_.run_until([&] { return stopped_ || world_.crashed(); }, 10 * kTestSecond) &&
           stopped_;
  }

  const Catalog& catalog(uint16_t core = 0) const { return cores[core]->catalog; }

  Meta meta;
  CatalogStore store;
  std::vector<std::unique_ptr<TestCore>> cores;
  std::unique_ptr<CatalogWriter> writer;

 private:
  bool answered(io::Message& message) {
    const auto over = [&] { return !message.away() || world_.crashed(); };
    if (world_.run_until(over, 10 * kTestSecond) && !world_.crashed()) return true;
    io::sim::SimMailboxes::drop(message);  // the dead writer's queue may still hold it
    return false;
  }
  void on_reply(io::Message&) {}
  void on_stopped(io::Op&) { stopped_ = true; }

  io::sim::SimWorld& world_;
  Settings settings_;
  io::Op stop_op_;
  bool stopped_ = false;
};

inline void fill_create(ChangeRequest& request, std::string name, int32_t partitions,
                        Overrides overrides = {}) {
  request.kind = ChangeRequest::Kind::create_topic;
  request.name = std::move(name);
  request.partition_count = partitions;
  request.overrides = std::move(overrides);
}

// Names, counts and overrides of all topics in one line: "a:3{cleanup.policy=compact} b:1{}".
inline std::string summary(const Catalog& catalog) {
  std::string out;
  for (const Topic& topic : catalog.topics()) {
    if (!out.empty()) out += ' ';
    out += topic.name + ":" + std::to_string(topic.partition_count) + "{";
    for (const auto& [name, value] : topic.overrides) out += name + "=" + value + ";";
    out += "}";
  }
  for (const auto& [name, value] : catalog.broker_overrides(BrokerScope::this_broker)) {
    out += " " + name + "=" + value;
  }
  return out;
}

}  // namespace weir::catalog
