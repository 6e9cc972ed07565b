#pragma once
// TestBroker: connections and handlers of every core of a simulated node over FakePartitions, and
// TestClient, which speaks the protocol to it byte by byte.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/producer_ids.h"
#include "engine/connection/acceptor.h"
#include "engine/handlers/context.h"
#include "engine/handlers/quota_buckets.h"
#include "engine/log/batch_validator.h"
#include "engine/model/ports.h"
#include "engine/transaction/messages.h"
#include "engine/wire/codec.h"
#include "io/base/bytes.h"
#include "io/sim/sim_world.h"
#include "tests/engine/handlers/fake_partitions.h"

namespace weir::handlers {

inline constexpr int64_t kTestMs = 1'000'000;
inline constexpr int64_t kTestSecond = 1'000'000'000;

using TestBuffer = std::vector<std::byte>;

// Answers every call of a transactional id as the test says.
class FakeCoordinator {
 public:
  explicit FakeCoordinator(io::CoreIo& io) : io_(io) {
    io.mailboxes.listen<&FakeCoordinator::on_call>(model::ports::kTransaction, *this);
  }
  model::ErrorCode error = model::ErrorCode::none;
  model::ErrorCode claim_error = model::ErrorCode::none;
  transaction::Claim given{model::ProducerId(9), model::ProducerEpoch(0)};

 private:
  void on_call(io::Message& message) {
    using transaction::TransactionCall;
    auto& call = static_cast<TransactionCall&>(message);
    call.error = error;
    if (call.kind == TransactionCall::Kind::add_partitions) {
      auto& add = static_cast<transaction::AddPartitionsCall&>(call);
      add.transaction = 1;
      for (auto& claim : add.partitions) claim.error = claim_error;
    } else if (call.kind == TransactionCall::Kind::init_producer_id) {
      static_cast<transaction::InitProducerIdCall&>(call).given = given;
    } else if (call.kind == TransactionCall::Kind::end) {
      static_cast<transaction::EndTransactionCall&>(call).given = given;
    }
    io_.mailboxes.reply(call);
  }
  io::CoreIo& io_;
};

class TestBroker : public io::Platform::CoreMain {
 public:
  struct Core {
    Core(TestBroker& broker, io::CoreIo& core_io)
        : io(core_io),
          catalog(broker.settings, core_io.core_count, broker.image),
          producer_ids(core_io),
          partitions(core_io),
          quota_buckets(core_io),
          coordinator(core_io),
          context{.io = core_io,
                  .catalog = catalog,
                  .producer_ids = producer_ids,
                  .validator = validator,
                  .node = broker.node,
                  .broker_settings = {},
                  .config = broker.config,
                  .metrics = metrics},
          acceptor(context, broker.connection_config, connection_metrics) {
      stopped_op.bind<&Core::on_stopped>(*this);
    }
    void on_stopped(io::Op&) {
      stopped = true;
      io.loop.stop();
    }

    io::CoreIo& io;
    catalog::Catalog catalog;
    catalog::ProducerIds producer_ids;
    log::BatchValidator validator;
    FakePartitions partitions;
    QuotaBuckets quota_buckets;
    FakeCoordinator coordinator;
    Metrics metrics;
    Context context;
    connection::Metrics connection_metrics;
    connection::Acceptor acceptor;
    io::Op stopped_op;
    bool stopped = false;
  };

  explicit TestBroker(uint64_t seed = 1, io::sim::SimOptions options = {}) : world(seed, options) {
    add_topic("t", 4);
  }
  ~TestBroker() override { stop(); }

  void add_topic(const std::string& name, int32_t partition_count,
                 catalog::Overrides overrides = {}) {
    catalog::Change change{.kind = catalog::ChangeKind::create_topic,
                           .serial = image.next_serial,
                           .id = {},
                           .name = name,
                           .partition_count = partition_count,
                           .internal = name.starts_with("__"),
                           .overrides = std::move(overrides)};
    change.id.bytes[0] = static_cast<std::byte>(image.next_serial.value());
    change.id.bytes[15] = std::byte{0x77};
    image.changes.push_back(change);
    image.next_serial = image.next_serial + 1;
  }

  void start() {
    cores.resize(world.core_count());
    world.start(*this);
    world.run_for(10 * kTestMs);
  }
  void stop() {
    for (auto& core : cores) {
      if (core == nullptr || core->stopped) continue;
      core->acceptor.stop(core->stopped_op);
    }
    const auto all_stopped = [&] {
      return std::ranges::all_of(cores, [](const auto& core) { return !core || core->stopped; });
    };
    EXPECT_TRUE(world.run_until(all_stopped, 60 * kTestSecond));
    for (const auto& core : cores) {
      if (core != nullptr) {
        EXPECT_EQ(core->partitions.leases, 0u);
      }
    }
    cores.clear();
  }

  // The fake log of a partition, wherever its home is.
  FakePartitions& home(const std::string& topic, int32_t partition) {
    const catalog::Topic& found = *cores[0]->catalog.find(topic);
    return cores[cores[0]->catalog.home_core(found, model::PartitionIndex(partition)).value()]
        ->partitions;
  }
  FakePartitions::Log& log(const std::string& topic, int32_t partition) {
    return home(topic, partition).log(cores[0]->catalog.find(topic)->serial.value(), partition);
  }

  void on_core_start(io::CoreIo& io) override {
    auto core = std::make_unique<Core>(*this, io);
    EXPECT_TRUE(core->acceptor.listen({"127.0.0.1", 9092}).has_value());
    core->acceptor.start();
    cores[io.index.value()] = std::move(core);
  }
  void on_stop_request(io::CoreIo&) override {}
  void on_core_stop(io::CoreIo&) override {}

  io::sim::SimWorld world;
  catalog::Settings settings;
  catalog::CatalogImage image;
  NodeIdentity node{.node_id = 1,
                    .cluster_id = "test",
                    .advertised = {},
                    .leader_epoch = 4,
                    .log_dir = "/data",
                    .catalog_offset = 17};
  Config config;
  connection::Config connection_config;
  std::vector<std::unique_ptr<Core>> cores;
};

class TestClient : public io::sim::SimClient::Handler {
 public:
  explicit TestClient(TestBroker& broker)
      : broker_(broker), client_(broker.world.network(), *this) {
    client_.connect({"127.0.0.1", 9092});
    EXPECT_TRUE(broker.world.run_until([&] { return client_.connected(); }, kTestSecond));
  }

  // A whole request frame.
  template <class M>
  TestBuffer frame(const M& request, int16_t version, int32_t correlation_id = 1) {
    base::Arena arena(size_t{256} << 20);
    TestBuffer bytes;
    for (const auto piece :
         wire::encode_request(correlation_id, "test-client", version, request, arena)) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
  }
  void send_bytes(std::span<const std::byte> bytes) { client_.send(bytes); }
  template <class M>
  void send(const M& request, int16_t version, int32_t correlation_id = 1) {
    client_.send(frame(request, version, correlation_id));
  }

  // The next response frame, without its size field.
  std::optional<TestBuffer> receive(int64_t bound_ns = 10 * kTestSecond) {
    const auto whole = [&] {
      const auto bytes = client_.received().view();
      return bytes.size() >= 4 && bytes.size() - 4 >= base::load_be<uint32_t>(bytes.data());
    };
    if (!broker_.world.run_until([&] { return whole() || closed; }, bound_ns) || !whole()) {
      return std::nullopt;
    }
    const auto bytes = client_.received().view();
    const uint32_t size = base::load_be<uint32_t>(bytes.data());
    TestBuffer out(bytes.begin() + 4, bytes.begin() + 4 + size);
    client_.received().drop(4 + size);
    return out;
  }

  // Sends, waits, decodes. The response views arena and frame of this client.
  template <class Response, class Request>
  Response call(const Request& request, int16_t version, int64_t bound_ns = 10 * kTestSecond) {
    send(request, version, ++correlation_id_);
    return expect<Response>(version, correlation_id_, bound_ns);
  }
  template <class Response>
  Response expect(int16_t version, int32_t correlation_id, int64_t bound_ns = 10 * kTestSecond) {
    Response out;
    auto received = receive(bound_ns);
    EXPECT_TRUE(received.has_value()) << "no response";
    if (!received) return out;
    frames_.push_back(std::move(*received));
    const TestBuffer& bytes = frames_.back();
    size_t position = 0;
    const auto api = static_cast<wire::ApiKey>(Response::kInfo.key);
    const auto id = wire::decode_response_header(bytes, api, version, position);
    EXPECT_TRUE(id.has_value());
    EXPECT_EQ(id.value_or(-1), correlation_id);
    const auto status =
        wire::decode(out, std::span<const std::byte>(bytes).subspan(position), version, arena_);
    EXPECT_TRUE(status.has_value()) << wire::to_string(status.error());
    return out;
  }
  bool wait_closed(int64_t bound_ns = 10 * kTestSecond) {
    return broker_.world.run_until([&] { return closed; }, bound_ns);
  }

  void on_closed() override { closed = true; }

  io::sim::SimClient& socket() { return client_; }
  base::Arena& arena() { return arena_; }
  bool closed = false;

 private:
  TestBroker& broker_;
  io::sim::SimClient client_;
  base::Arena arena_{size_t{512} << 20};
  std::deque<TestBuffer> frames_;
  int32_t correlation_id_ = 100;
};

}  // namespace weir::handlers
