// C54, C119: a crash at every step of start, change and compaction; process kill and power cut.
// After the restart the catalog is the one of the last answered change or of the one in progress,
// never an older one, never none; serials, ids and incarnations go on; deleted topics stay deleted.
#include <gtest/gtest.h>

#include "engine/catalog/catalog_writer.h"
#include "io/base/random.h"
#include "tests/engine/catalog/catalog_support.h"

namespace weir::catalog {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

// A script of changes and what the catalog says after each.
struct Script {
  static constexpr int kSteps = 7;

  static bool step(TestNode& node, int index) {
    ChangeRequest request;
    switch (index) {
      case 0: fill_create(request, "a", 3); break;
      case 1: fill_create(request, "b", 1, {{"cleanup.policy", "compact"}}); break;
      case 2:
        request.kind = ChangeRequest::Kind::alter_topic_config;
        request.name = "a";
        request.ops = {ConfigOp{.kind = 0, .name = "retention.ms", .value = "9"}};
        break;
      case 3:
        request.kind = ChangeRequest::Kind::create_partitions;
        request.name = "b";
        request.partition_count = 4;
        break;
      case 4:
        request.kind = ChangeRequest::Kind::delete_topic;
        request.name = "a";
        break;
      case 5: fill_create(request, "a", 2); break;
      case 6:
        request.kind = ChangeRequest::Kind::alter_broker_config;
        request.ops = {ConfigOp{.kind = 0, .name = "log.retention.ms", .value = "8"}};
        break;
      default: ADD_FAILURE();
    }
    const bool answered = node.change(request);
    if (answered) {
      EXPECT_EQ(request.error, ErrorCode::none) << request.error_message;
    }
    return answered;
  }

  // After `count` steps.
  static std::string state(int count) {
    const char* const states[] = {
        "",
        "a:3{}",
        "a:3{} b:1{cleanup.policy=compact;}",
        "a:3{retention.ms=9;} b:1{cleanup.policy=compact;}",
        "a:3{retention.ms=9;} b:4{cleanup.policy=compact;}",
        "b:4{cleanup.policy=compact;}",
        "a:2{} b:4{cleanup.policy=compact;}",
        "a:2{} b:4{cleanup.policy=compact;} log.retention.ms=8",
    };
    return states[count];
  }
  // How many steps a state stands for; -1: none of them.
  static int steps_of(const std::string& state_text) {
    for (int count = 0; count <= kSteps; ++count) {
      if (state(count) == state_text) return count;
    }
    return -1;
  }
};

// Runs the script from where the disk is until it ends or the world crashes. `done`: steps
// answered. False: a promise was broken.
bool run_once(io::sim::SimWorld& world, int& done, int32_t& incarnation, int64_t& next_id) {
  TestNode node(world);
  const auto started = node.start();
  if (!started) {
    EXPECT_TRUE(world.crashed()) << started.error().detail;
    return world.crashed();
  }
  const std::string found = summary(node.catalog());
  const int steps = Script::steps_of(found);
  // One more than was answered may have become durable; all cores agree.
  EXPECT_TRUE(steps == done || steps == done + 1) << "found: " << found << " after " << done;
  if (steps != done && steps != done + 1) return false;
  EXPECT_GT(node.meta.incarnation.value(), incarnation);
  incarnation = node.meta.incarnation.value();
  done = steps;
  ProducerIdBlock block;
  if (node.reserve(block)) {
    EXPECT_EQ(block.error, ErrorCode::none);
    EXPECT_GE(block.first.value(), next_id);
    next_id = block.first.value() + block.count;
  }
  while (done < Script::kSteps && !world.crashed() && Script::step(node, done)) ++done;
  EXPECT_TRUE(world.crashed() || node.stop() || world.crashed());
  return true;
}

void crash_at_every_event(CrashKind kind, double torn_sector) {
  for (uint64_t event = 1;; ++event) {
    io::sim::SimOptions options;
    options.core_count = 2;
    options.faults.torn_sector = torn_sector;
    io::sim::SimWorld world(event, options);
    world.crash_at_event(event, kind);
    int done = 0;
    int32_t incarnation = -1;
    int64_t next_id = 0;
    ASSERT_TRUE(run_once(world, done, incarnation, next_id)) << "crash at event " << event;
    if (!world.crashed()) {
      EXPECT_EQ(done, Script::kSteps);
      EXPECT_GT(event, 50u);
      return;
    }
    world.restart(2);
    ASSERT_TRUE(run_once(world, done, incarnation, next_id)) << "restart after event " << event;
    ASSERT_EQ(done, Script::kSteps);
  }
}

TEST(CatalogCrashTest, ProcessKilledAtEveryEvent) {
  crash_at_every_event(CrashKind::process_kill, 0);
}
TEST(CatalogCrashTest, PowerCutAtEveryEvent) { crash_at_every_event(CrashKind::power_cut, 0); }
TEST(CatalogCrashTest, PowerCutWithGarbageAtEveryEvent) {
  crash_at_every_event(CrashKind::power_cut, 0.5);
}

TEST(CatalogCrashTest, CrashesDuringRecoveryOfCrashes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    base::RandomStream random(seed);
    io::sim::SimOptions options;
    options.faults.torn_sector = random.chance(0.5) ? 0.3 : 0;
    options.faults.short_write = 0.2;
    options.faults.interrupted = 0.1;
    io::sim::SimWorld world(seed, options);
    int done = 0;
    int32_t incarnation = -1;
    int64_t next_id = 0;
    for (int crash = 0; crash < 6; ++crash) {
      world.crash_at_event(world.event_count() + random.between(1, 120),
                           random.chance(0.5) ? CrashKind::process_kill : CrashKind::power_cut);
      ASSERT_TRUE(run_once(world, done, incarnation, next_id)) << "seed " << seed;
      if (!world.crashed()) break;
      world.restart(static_cast<uint16_t>(random.between(1, 3)));
    }
    if (world.crashed()) world.restart(1);
  }
}

// A log of 3,000 creations and deletions is rewritten at the next start; a crash at every event of
// it.
TEST(CatalogCrashTest, CompactionAtEveryEvent) {
  for (uint64_t event = 1;; ++event) {
    io::sim::SimOptions options;
    options.faults.torn_sector = 0.3;
    io::sim::SimWorld world(event, options);
    model::TopicSerial last_serial{};
    {
      TestNode node(world);
      ASSERT_TRUE(node.start());
      std::vector<std::unique_ptr<ChangeRequest>> requests;
      std::string value = "0:1";
      while (value.size() < 60) value += ",0:1";
      for (int i = 0; i < 1'500; ++i) {
        requests.push_back(std::make_unique<ChangeRequest>());
        fill_create(*requests.back(), "t" + std::to_string(i), 1,
                    {{"follower.replication.throttled.replicas", value}});
        node.send(*requests.back());
        if (i == 0) continue;
        requests.push_back(std::make_unique<ChangeRequest>());
        requests.back()->kind = ChangeRequest::Kind::delete_topic;
        requests.back()->name = "t" + std::to_string(i);
        node.send(*requests.back());
      }
      world.run_for(5 * kTestSecond);
      for (const auto& request : requests) ASSERT_FALSE(request->away());
      last_serial = requests[requests.size() - 2]->serial;
      ASSERT_TRUE(node.stop());
    }
    world.crash(CrashKind::process_kill);
    world.restart(1);
    ASSERT_GT(world.disk().content("/data/catalog.log").size(), 100'000u);
    world.crash_at_event(world.event_count() + event,
                         event % 2 == 0 ? CrashKind::power_cut : CrashKind::process_kill);
    bool finished = false;
    {
      TestNode node(world);
      finished = node.start().has_value() && !world.crashed();
    }
    if (finished) world.crash(CrashKind::power_cut);
    world.restart(1);
    TestNode node(world);
    const auto started = node.start();
    ASSERT_TRUE(started) << started.error().detail;
    EXPECT_EQ(node.catalog().topic_count(), 1u);
    EXPECT_NE(node.catalog().find("t0"), nullptr);
    EXPECT_GT(node.store.image.next_serial, last_serial);  // though no living topic remembers it
    EXPECT_LT(world.disk().content("/data/catalog.log").size(), 2'000u);
    EXPECT_FALSE(world.disk().exists("/data/catalog.log.new"));
    if (finished) return;
  }
}

}  // namespace
}  // namespace weir::catalog
