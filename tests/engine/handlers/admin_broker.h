#pragma once
// AdminBroker: a TestBroker whose catalog can change: writer on core 0, applier on every core.

#include <memory>
#include <vector>

#include "engine/broker/catalog_topics.h"
#include "engine/broker/config.h"
#include "engine/catalog/catalog_applier.h"
#include "engine/catalog/catalog_log.h"
#include "engine/catalog/catalog_store.h"
#include "engine/catalog/catalog_writer.h"
#include "tests/engine/handlers/test_broker.h"

namespace weir::handlers {

class AdminBroker : public TestBroker, public catalog::CatalogListener {
 public:
  explicit AdminBroker(uint16_t core_count) : TestBroker(1, {.core_count = core_count}) {
    appliers_.resize(core_count);
    stop_op_.bind<&AdminBroker::on_writer_stopped>(*this);
    broker_settings = broker::Config().list();
    settings.group_settings = broker::group_settings_of({});
  }
  ~AdminBroker() override {
    writer_->stop(stop_op_);
    EXPECT_TRUE(world.run_until([&] { return writer_stopped_; }, 60 * kTestSecond));
    stop();
  }

  void on_core_start(io::CoreIo& io) override {
    TestBroker::on_core_start(io);
    Core& core = *cores[io.index.value()];
    core.context.broker_settings = broker_settings;
    appliers_[io.index.value()] =
        std::make_unique<catalog::CatalogApplier>(io, core.catalog, *this);
    if (io.index.value() != 0) return;
    catalog::FileIo files(io.loop, io.disk, "/data");
    EXPECT_TRUE(
        files.replace(catalog::kCatalogFileName, catalog::encode_log(catalog::LogId{}, 1, image)));
    auto store = catalog::open_catalog(files, io.random, catalog::IfMissing::refuse);
    ASSERT_TRUE(store.has_value());
    writer_ = std::make_unique<catalog::CatalogWriter>(io, core.catalog, *store);
  }

  const catalog::Catalog& catalog_of(size_t core) const { return cores[core]->catalog; }

  std::vector<model::SettingInfo> broker_settings;

 private:
  Done on_topic_created(const catalog::Topic&) override { return Done::now; }
  Done on_partitions_added(const catalog::Topic&, int32_t) override { return Done::now; }
  Done on_topic_deleted(const catalog::Topic&) override { return Done::now; }
  Done on_topic_config_changed(const catalog::Topic&) override { return Done::now; }
  void on_writer_stopped(io::Op&) { writer_stopped_ = true; }

  std::vector<std::unique_ptr<catalog::CatalogApplier>> appliers_;
  std::unique_ptr<catalog::CatalogWriter> writer_;
  io::Op stop_op_;
  bool writer_stopped_ = false;
};

}  // namespace weir::handlers
