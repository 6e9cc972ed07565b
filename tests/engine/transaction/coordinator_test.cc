// Proves what the coordinator makes of the rules: nothing is answered before it is durable, markers
// are asked for and asked for again, calls wait their turn, a crash at any step of an end is gone
// on from, timeouts abort, unused ids go (CASES C91, C92, C100; RELIABILITY F46).
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/ports.h"
#include "engine/transaction/transaction_coordinator.h"
#include "io/base/logging.h"
#include "tests/support/manual_core.h"

namespace weir::transaction {
namespace {

using model::ErrorCode;
using S = TransactionState;

constexpr uint32_t kTopic = 5;
constexpr uint32_t kDeletedTopic = 6;

class FakeHost final : public TransactionHost {
 public:
  void append(TransactionAppend& append) override { appends.push_back(&append); }
  void allocate(ProducerIdWait& wait) override { waits.push_back(&wait); }
  std::optional<MarkerRoute> route(model::PartitionKey key) override {
    if (key.topic.value() == kDeletedTopic) return std::nullopt;
    return MarkerRoute{io::CoreIndex(0), model::ports::kWriteMarker};
  }
  std::optional<model::TopicSerial> serial_of(std::string_view) override {
    return model::TopicSerial(kTopic);
  }
  int32_t coordinator_epoch() const override { return 4; }

  void complete_append(ErrorCode error = ErrorCode::none) {
    TransactionAppend& append = *appends.front();
    appends.pop_front();
    if (error == ErrorCode::none) batches.push_back(append.batch);
    append.error = error;
    append.outcome_unknown = false;
    append.complete();
  }
  void complete_wait(ErrorCode error = ErrorCode::none) {
    ProducerIdWait& wait = *waits.front();
    waits.pop_front();
    wait.error = error;
    wait.id = model::ProducerId(next_id++);
    wait.complete();
  }

  std::deque<TransactionAppend*> appends;
  std::deque<ProducerIdWait*> waits;
  std::vector<std::vector<std::byte>> batches;  // durable
  int64_t next_id = 100;
};

// A call of the test. It leaves the list of those that a crash takes when it goes.
template <class Call>
struct Sent : Call {
  Sent() { this->template bind_reply<&Sent::on_reply>(*this); }
  ~Sent() {
    if (list) std::erase(*list, this);
  }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;
  void on_reply(io::Message&) { done = true; }
  std::vector<io::Message*>* list = nullptr;
  bool done = false;
  std::string id;
  std::vector<PartitionClaim> claims;
};

class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() {
    base::set_log_level(base::LogLevel::off);
    core.mailboxes.listen<&CoordinatorTest::on_marker>(model::ports::kWriteMarker, *this);
    start();
  }
  ~CoordinatorTest() override { crash(); }

  void start() {
    coordinator = std::make_unique<TransactionCoordinator>(core.io, host, config);
    for (const auto& batch : host.batches) {
      coordinator->replay(model::PartitionIndex(0), batch);
    }
    coordinator->replay_done();
    coordinator->start();
  }
  // What was on its way is gone; what is durable is replayed.
  void crash() {
    for (auto* marker : markers) test::ManualMailboxes::drop(*marker);
    for (auto* call : calls) {
      if (call->away()) test::ManualMailboxes::drop(*call);
    }
    markers.clear();
    calls.clear();
    host.appends.clear();
    host.waits.clear();
    core.mailboxes.drop_all();
    coordinator.reset();
  }
  void restart() {
    crash();
    start();
    core.loop.turn();
  }

  void on_marker(io::Message& message) {
    markers.push_back(static_cast<partition::MarkerRequest*>(&message));
  }
  void answer_marker(ErrorCode error = ErrorCode::none) {
    partition::MarkerRequest& marker = *markers.front();
    markers.pop_front();
    marker.error = error;
    marker.outcome_unknown = false;
    core.mailboxes.reply(marker);
    core.loop.turn();
  }
  void append(ErrorCode error = ErrorCode::none) {
    ASSERT_FALSE(host.appends.empty());
    host.complete_append(error);
    core.loop.turn();
  }
  // Everything that is asked for is granted until nothing is.
  void settle() {
    while (true) {
      core.loop.turn();
      if (!host.waits.empty()) host.complete_wait();
      else if (!host.appends.empty()) host.complete_append();
      else if (!markers.empty()) answer_marker();
      else return;
    }
  }

  template <class Call>
  Call& send(Call& call, const std::string& id, Claim claim) {
    call.id = id;
    call.transactional_id = call.id;
    call.claim = claim;
    call.list = &calls;
    calls.push_back(&call);
    core.mailboxes.send(io::CoreIndex(0), model::ports::kTransaction, call);
    core.loop.turn();
    return call;
  }
  using Init = Sent<InitProducerIdCall>;
  using Add = Sent<AddPartitionsCall>;
  using EndCall = Sent<EndTransactionCall>;

  std::unique_ptr<Init> init(const std::string& id = "x", Claim claim = {},
                             int32_t timeout_ms = 1000) {
    auto call = std::make_unique<Init>();
    call->timeout_ms = timeout_ms;
    send(*call, id, claim);
    return call;
  }
  std::unique_ptr<Add> add(Claim claim, std::vector<int32_t> partitions, bool verify = false,
                           uint32_t topic = kTopic, const std::string& id = "x") {
    auto call = std::make_unique<Add>();
    for (const int32_t index : partitions) {
      call->claims.push_back(
          {.key = {model::TopicSerial(topic), model::PartitionIndex(index)}, .topic = "t"});
    }
    call->partitions = call->claims;
    call->verify_only = verify;
    send(*call, id, claim);
    return call;
  }
  std::unique_ptr<EndCall> end(Claim claim, bool commit, bool bumps = false,
                               int64_t connected_ns = 1) {
    auto call = std::make_unique<EndCall>();
    call->end = {.commit = commit, .bumps_epoch = bumps};
    call->connected_at = {connected_ns};
    send(*call, "x", claim);
    return call;
  }
  // A transaction over partitions 0 and 1.
  Claim begin() {
    auto given = init();
    settle();
    EXPECT_EQ(given->error, ErrorCode::none);
    auto added = add(given->given, {0, 1});
    settle();
    EXPECT_EQ(added->error, ErrorCode::none);
    return given->given;
  }
  S state() const { return coordinator->find("x")->state; }

  test::ManualCore core;
  FakeHost host;
  TransactionConfig config;
  std::unique_ptr<TransactionCoordinator> coordinator;
  std::deque<partition::MarkerRequest*> markers;
  std::vector<io::Message*> calls;
};

TEST_F(CoordinatorTest, answers_come_when_the_record_is_durable) {
  auto given = init();
  EXPECT_FALSE(given->done);
  ASSERT_EQ(host.waits.size(), 1u);
  host.complete_wait();
  EXPECT_FALSE(given->done);
  append();
  ASSERT_TRUE(given->done);
  EXPECT_EQ(given->given.producer_id.value(), 100);
  EXPECT_EQ(given->given.epoch.value(), 0);
  auto added = add(given->given, {0});
  EXPECT_FALSE(added->done);
  append();
  EXPECT_TRUE(added->done);
  auto again = add(given->given, {0});
  EXPECT_TRUE(again->done) << "known already: nothing to write";
  EXPECT_EQ(again->transaction, added->transaction);
  EXPECT_NE(again->transaction, 0u);
}

TEST_F(CoordinatorTest, an_end_is_answered_when_every_marker_is_there) {
  const Claim claim = begin();
  auto ended = end(claim, true);
  append();  // the decision
  EXPECT_EQ(state(), S::prepare_commit);
  ASSERT_EQ(markers.size(), 2u);
  EXPECT_TRUE(markers[0]->marker.commit);
  EXPECT_EQ(markers[0]->marker.coordinator_epoch, 4);
  EXPECT_EQ(markers[0]->producer_id, claim.producer_id);
  EXPECT_EQ(markers[0]->producer_epoch, claim.epoch);
  EXPECT_TRUE(markers[0]->origin.only_if_open);
  answer_marker();
  EXPECT_FALSE(ended->done);
  answer_marker();
  ASSERT_TRUE(ended->done);
  EXPECT_EQ(ended->error, ErrorCode::none);
  // The next transaction waits for the completion only.
  auto added = add(claim, {3});
  EXPECT_FALSE(added->done);
  append();
  EXPECT_EQ(state(), S::complete_commit);
  append();
  EXPECT_TRUE(added->done);
  EXPECT_EQ(state(), S::ongoing);
}

TEST_F(CoordinatorTest, each_transaction_has_a_number_of_its_own) {
  const Claim claim = begin();
  const uint64_t first = add(claim, {0})->transaction;
  auto ended = end(claim, false);
  settle();
  auto next = add(claim, {0});
  settle();
  EXPECT_GT(next->transaction, first);
}

TEST_F(CoordinatorTest, verification_says_what_is_in_the_transaction) {
  const Claim claim = begin();
  auto call = add(claim, {0, 7}, true);
  ASSERT_TRUE(call->done);
  EXPECT_EQ(call->claims[0].error, ErrorCode::none);
  EXPECT_EQ(call->claims[1].error, ErrorCode::transaction_abortable);
  auto unknown = add(claim, {0}, true, kTopic, "y");
  EXPECT_EQ(unknown->error, ErrorCode::invalid_producer_id_mapping);
  auto old_epoch = add({claim.producer_id, model::ProducerEpoch(-1)}, {0}, true);
  EXPECT_EQ(old_epoch->error, ErrorCode::producer_fenced);
}

TEST_F(CoordinatorTest, a_new_producer_aborts_what_is_open) {
  const Claim claim = begin();
  auto taken = init();
  append();
  ASSERT_TRUE(taken->done);
  EXPECT_EQ(taken->error, ErrorCode::concurrent_transactions);
  ASSERT_EQ(markers.size(), 2u);
  EXPECT_FALSE(markers[0]->marker.commit);
  EXPECT_EQ(markers[0]->producer_epoch.value(), claim.epoch.value() + 1);
  auto again = init();
  settle();
  EXPECT_EQ(again->error, ErrorCode::none);
  EXPECT_EQ(again->given.epoch.value(), claim.epoch.value() + 2);
  EXPECT_EQ(end(claim, true)->error, ErrorCode::producer_fenced);
}

TEST_F(CoordinatorTest, an_end_stuck_on_an_older_connection_does_not_hit_the_next_transaction) {
  const Claim claim = begin();
  auto ended = end(claim, true, false, 20);
  settle();
  auto added = add(claim, {0});
  settle();
  EXPECT_EQ(end(claim, true, false, 10)->error, ErrorCode::producer_fenced);
  EXPECT_EQ(state(), S::ongoing);
  auto good = end(claim, true, false, 20);
  settle();
  EXPECT_EQ(good->error, ErrorCode::none);
}

TEST_F(CoordinatorTest, a_crash_at_any_step_of_an_end_is_gone_on_from) {
  for (const bool commit : {false, true}) {
    for (int steps = 0; steps <= 4; ++steps) {
      SCOPED_TRACE(steps);
      const Claim claim = begin();
      auto ended = end(claim, commit);
      for (int i = 0; i < steps; ++i) {
        if (!host.appends.empty()) append();
        else answer_marker();
      }
      const bool decided = steps >= 1;
      restart();
      EXPECT_EQ(markers.size(), decided && steps < 4 ? 2u : 0u);
      settle();
      if (decided) {
        EXPECT_EQ(state(), commit ? S::complete_commit : S::complete_abort);
      } else {
        EXPECT_EQ(state(), S::ongoing);
      }
      EXPECT_FALSE(ended->done && steps < 3);
      // Whoever comes next gets a clean start.
      auto next = init();
      settle();
      if (next->error == ErrorCode::concurrent_transactions) {
        next = init();
        settle();
      }
      EXPECT_EQ(next->error, ErrorCode::none);
      EXPECT_EQ(coordinator->metrics().open, 0u);
    }
  }
}

TEST_F(CoordinatorTest, markers_that_fail_are_asked_for_again) {
  const Claim claim = begin();
  auto ended = end(claim, true);
  append();
  answer_marker();
  answer_marker(ErrorCode::kafka_storage_error);
  ASSERT_TRUE(ended->done);
  EXPECT_EQ(ended->error, ErrorCode::concurrent_transactions);
  EXPECT_EQ(end(claim, true)->error, ErrorCode::concurrent_transactions);
  EXPECT_TRUE(markers.empty());
  core.loop.advance_ms(1'001, [] {});
  ASSERT_EQ(markers.size(), 1u) << "only the one that failed";
  settle();
  EXPECT_EQ(state(), S::complete_commit);
  EXPECT_EQ(end(claim, true)->error, ErrorCode::none);
}

TEST_F(CoordinatorTest, topics_that_are_gone_get_no_marker) {
  const Claim claim = begin();
  auto added = add(claim, {0}, false, kDeletedTopic);
  settle();
  auto ended = end(claim, true);
  append();
  EXPECT_EQ(markers.size(), 2u);
  answer_marker();
  answer_marker(ErrorCode::unknown_topic_or_partition);
  EXPECT_EQ(ended->error, ErrorCode::none);
  settle();
  EXPECT_EQ(state(), S::complete_commit);
}

TEST_F(CoordinatorTest, a_failed_write_changes_nothing) {
  auto given = init();
  host.complete_wait();
  append(ErrorCode::kafka_storage_error);
  EXPECT_EQ(given->error, ErrorCode::not_coordinator);
  EXPECT_EQ(coordinator->id_count(), 0u);
  const Claim claim = begin();
  auto added = add(claim, {5});
  append(ErrorCode::not_enough_replicas);
  EXPECT_EQ(added->error, ErrorCode::coordinator_not_available);
  auto verified = add(claim, {5}, true);
  EXPECT_EQ(verified->claims[0].error, ErrorCode::transaction_abortable);
  // Without an id there is nothing to begin with.
  auto other = init("y");
  host.complete_wait(ErrorCode::coordinator_not_available);
  core.loop.turn();
  EXPECT_EQ(other->error, ErrorCode::coordinator_not_available);
}

TEST_F(CoordinatorTest, timeouts_are_limited_on_both_sides) {
  EXPECT_EQ(init("a", {}, 0)->error, ErrorCode::invalid_transaction_timeout);
  EXPECT_EQ(init("a", {}, config.max_timeout_ms + 1)->error,
            ErrorCode::invalid_transaction_timeout);
  EXPECT_EQ(coordinator->id_count(), 0u);
  auto most = init("a", {}, config.max_timeout_ms);
  auto least = init("b", {}, 1);
  settle();
  EXPECT_EQ(most->error, ErrorCode::none);
  EXPECT_EQ(least->error, ErrorCode::none);
}

TEST_F(CoordinatorTest, a_transaction_that_takes_too_long_is_aborted) {
  const Claim claim = begin();
  core.loop.advance_ms(config.abort_interval_ms + 1, [&] { settle(); });
  EXPECT_EQ(state(), S::complete_abort);
  EXPECT_EQ(coordinator->metrics().timed_out, 1u);
  EXPECT_EQ(coordinator->metrics().open, 0u);
  EXPECT_EQ(end(claim, true)->error, ErrorCode::producer_fenced);
  // A wall clock that jumps ends nothing, and keeps nothing open.
  begin();
  core.clock.jump_wall_ms(86'400'000);
  core.loop.advance_ms(500, [&] { settle(); });
  EXPECT_EQ(state(), S::ongoing);
  core.clock.jump_wall_ms(-2 * 86'400'000);
  core.loop.advance_ms(config.abort_interval_ms + 1, [&] { settle(); });
  EXPECT_EQ(state(), S::complete_abort);
  // Also when the broker was down meanwhile.
  begin();
  restart();
  core.loop.advance_ms(config.abort_interval_ms + 1, [&] { settle(); });
  EXPECT_EQ(state(), S::complete_abort);
}

TEST_F(CoordinatorTest, ids_that_nobody_uses_are_forgotten) {
  constexpr int kIds = 600;  // more than a slice
  for (int i = 0; i < kIds; ++i) {
    auto call = init("id-" + std::to_string(i));
    settle();
  }
  begin();
  core.clock.jump_wall_ms(int64_t{config.id_expiration_ms} - config.abort_interval_ms - 100);
  core.loop.advance_ms(config.abort_interval_ms + 50, [&] { settle(); });
  EXPECT_EQ(coordinator->id_count(), kIds + 1u);
  core.loop.advance_ms(2 * config.abort_interval_ms, [&] { settle(); });
  EXPECT_EQ(coordinator->id_count(), 1u) << "the open one is aborted, not forgotten";
  EXPECT_EQ(coordinator->metrics().ids_expired, uint64_t{kIds});
  restart();
  EXPECT_EQ(coordinator->id_count(), 1u);
  auto again = init("id-1");
  settle();
  EXPECT_EQ(again->error, ErrorCode::none);
}

TEST_F(CoordinatorTest, values_come_back_from_the_log) {
  const Claim claim = begin();
  const TransactionValue before = *coordinator->find("x");
  restart();
  EXPECT_EQ(*coordinator->find("x"), before);
  auto ended = end(claim, true, true);
  settle();
  const TransactionValue done = *coordinator->find("x");
  restart();
  EXPECT_EQ(*coordinator->find("x"), done);
  EXPECT_EQ(end(claim, true, true)->error, ErrorCode::none) << "a retry over a restart";
}

TEST_F(CoordinatorTest, stopped_it_sends_calls_back) {
  auto first = init();
  auto parked = init();
  coordinator->stop();
  core.loop.turn();
  EXPECT_TRUE(parked->done);
  EXPECT_EQ(parked->error, ErrorCode::not_coordinator);
  EXPECT_FALSE(coordinator->idle());
  settle();
  EXPECT_TRUE(first->done);
  EXPECT_TRUE(coordinator->idle());
  EXPECT_EQ(init()->error, ErrorCode::not_coordinator);
}

}  // namespace
}  // namespace weir::transaction
