// What the simulated disk promises: what a sync makes durable, what a power cut may do to the rest,
// what a killed process leaves behind, and that the faults it injects look like the kernel's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "tests/io/sim_support.h"

namespace weir::io::sim {
namespace {

using testing::AnyOf;

TEST(SimDisk, ReadsBackWhatWasWritten) {
  SimWorld world(1);
  const FileId file = open_file(world, "/data/a");
  EXPECT_EQ(write_file(world, file, "hello", 3), 5);
  EXPECT_EQ(read_file(world, file, 0, 100), std::string("\0\0\0hello", 8));
  EXPECT_EQ(read_file(world, file, 8, 100), "");
  EXPECT_EQ(world.core(0).disk.info("/data/a")->size, 8u);
}

TEST(SimDisk, OpenFollowsItsOptions) {
  SimWorld world(1);
  EXPECT_EQ(open_file(world, "/data/a", {}).value(), -ENOENT);
  EXPECT_GE(open_file(world, "/data/a").value(), 0);
  EXPECT_GE(open_file(world, "/data/a", {}).value(), 0);
  EXPECT_EQ(open_file(world, "/data/a", {.create = true, .exclusive = true}).value(), -EEXIST);
  EXPECT_EQ(open_file(world, "/data/none/a").value(), -ENOENT);
  EXPECT_EQ(open_file(world, "/data", {}).value(), -EISDIR);
}

// After a power cut a synced file is as it was; an unsynced one takes several shapes over the
// seeds.
TEST(SimDisk, PowerCutKeepsWhatWasSyncedAndDrawsTheRest) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    write_file(world, file, std::string(1024, 'a'), 0);
    sync_file(world, file);
    sync_directory(world, "/data");
    write_file(world, file, std::string(1024, 'b'), 0);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    const auto content = text_of(world.disk().content("/data/a"));
    ASSERT_EQ(content.size(), 1024u);
    for (size_t sector = 0; sector < 2; ++sector) {
      const std::string_view bytes = std::string_view(content).substr(sector * 512, 512);
      EXPECT_THAT(bytes, AnyOf(std::string(512, 'a'), std::string(512, 'b')));
    }
    outcomes.insert({content[0], content[512]});
  }
  EXPECT_THAT(outcomes, testing::UnorderedElementsAre("aa", "ab", "ba", "bb"));
}

TEST(SimDisk, TornSectorsTurnToGarbage) {
  int garbage = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimOptions options;
    options.faults.torn_sector = 1;
    SimWorld world(seed, options);
    const FileId file = open_file(world, "/data/a");
    write_file(world, file, std::string(1024, 'a'), 0);
    sync_file(world, file);
    sync_directory(world, "/data");
    write_file(world, file, std::string(512, 'b'), 512);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    const auto content = text_of(world.disk().content("/data/a"));
    EXPECT_EQ(content.substr(0, 512), std::string(512, 'a')) << "a synced sector changed";
    const std::string second = content.substr(512);
    garbage += second != std::string(512, 'a') && second != std::string(512, 'b') ? 1 : 0;
  }
  EXPECT_EQ(garbage, 20);
}

// A sync covers only writes whose completion was seen before it was submitted (rule 7).
TEST(SimDisk, SyncDoesNotCoverWritesInFlight) {
  int lost = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    write_file(world, file, "old", 0);
    sync_file(world, file);
    sync_directory(world, "/data");
    Waiter write;
    Waiter sync;
    const Slice slice{bytes_of("new").data(), 3};
    world.core(0).disk.write(write.op, file, std::span(&slice, 1), 0, Durability::none);
    world.core(0).disk.sync(sync.op, file);
    world.core(0).loop.run_until(write.op);
    if (sync.op.armed()) world.core(0).loop.run_until(sync.op);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    lost += text_of(world.disk().content("/data/a")) == "old" ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

TEST(SimDisk, DurableWriteSurvivesWithItsSize) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    sync_directory(world, "/data");
    write_file(world, file, "unsynced", 0);
    write_file(world, file, std::string(600, 'd'), 4096, Durability::on_completion);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    const auto content = text_of(world.disk().content("/data/a"));
    ASSERT_EQ(content.size(), 4696u);
    EXPECT_EQ(content.substr(4096), std::string(600, 'd'));
  }
}

// The unsynced version below a durable write never comes back.
TEST(SimDisk, DurableWriteSupersedesEarlierVersions) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    sync_directory(world, "/data");
    write_file(world, file, std::string(1024, 'x'), 0);
    write_file(world, file, std::string(512, 'y'), 512, Durability::on_completion);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    EXPECT_EQ(text_of(world.disk().content("/data/a")).substr(512), std::string(512, 'y'));
  }
}

TEST(SimDisk, EntriesNeedASyncOfTheirDirectory) {
  int created = 0;
  int renamed = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/kept");
    write_file(world, file, "kept", 0, Durability::on_completion);
    sync_directory(world, "/data");
    const FileId other = open_file(world, "/data/new");
    write_file(world, other, "new", 0, Durability::on_completion);
    wait(world, [&](Op& op) { world.core(0).disk.rename(op, "/data/kept", "/data/moved"); });
    world.crash(CrashKind::power_cut);
    world.restart(1);
    created += world.disk().exists("/data/new") ? 1 : 0;
    renamed += world.disk().exists("/data/moved") ? 1 : 0;
    // A rename is one step: the file is in exactly one place, with its content.
    ASSERT_NE(world.disk().exists("/data/kept"), world.disk().exists("/data/moved"));
    const char* place = world.disk().exists("/data/kept") ? "/data/kept" : "/data/moved";
    EXPECT_EQ(text_of(world.disk().content(place)), "kept");
  }
  EXPECT_THAT(created, testing::AllOf(testing::Gt(5), testing::Lt(55)));
  EXPECT_THAT(renamed, testing::AllOf(testing::Gt(5), testing::Lt(55)));
}

TEST(SimDisk, SyncedDirectoryKeepsItsEntries) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SimWorld world(seed);
    wait(world, [&](Op& op) { world.core(0).disk.make_directory(op, "/data/d"); });
    open_file(world, "/data/d/a");
    open_file(world, "/data/d/gone");
    wait(world, [&](Op& op) { world.core(0).disk.rename(op, "/data/d/a", "/data/d/b"); });
    wait(world, [&](Op& op) { world.core(0).disk.remove(op, "/data/d/gone"); });
    sync_directory(world, "/data/d");
    sync_directory(world, "/data");
    world.crash(CrashKind::power_cut);
    world.restart(1);
    EXPECT_THAT(world.disk().files(), testing::ElementsAre("/data/d/b"));
  }
}

// A killed process: its writes in flight land later, and the lock is held until they have.
TEST(SimDisk, KilledProcessWritesLandWhileTheLockIsHeld) {
  int late = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    Waiter write;
    const Slice slice{bytes_of("landed").data(), 6};
    world.core(0).disk.write(write.op, file, std::span(&slice, 1), 0, Durability::none);
    world.crash(CrashKind::process_kill);
    EXPECT_FALSE(write.op.armed());
    EXPECT_FALSE(write.ran);
    world.restart(1);
    EXPECT_EQ(world.disk().landing_count(), 1u);
    EXPECT_FALSE(world.platform().lock("/data", 0));
    late += world.disk().content("/data/a").empty() ? 1 : 0;
    EXPECT_TRUE(world.platform().lock("/data", 10'000));
    EXPECT_EQ(text_of(world.disk().content("/data/a")), "landed");
  }
  EXPECT_GT(late, 0);
}

TEST(SimDisk, ALockIsHeldUntilTheWritesOfItsDeadOwnerHaveLanded) {
  const OpenOptions locked{.create = true, .locked = true};
  int tried = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const bool forgets = seed % 2 == 1;
    SimWorld world(seed, {.lock_forgets_landing = forgets});
    const FileId file = open_file(world, "/data/a", locked);
    ASSERT_GE(open_file(world, "/data/idle", locked).value(), 0);
    Waiter write;
    const Slice slice{bytes_of("landed").data(), 6};
    world.core(0).disk.write(write.op, file, std::span(&slice, 1), 0, Durability::none);
    world.crash(CrashKind::process_kill);
    world.restart(1);
    world.faults().disk_latency_ns = 1'000;  // most opens come before the landing
    EXPECT_GE(open_file(world, "/data/idle", locked).value(), 0);
    const int32_t result = open_file(world, "/data/a", locked).value();
    if (world.disk().landing_count() == 0) continue;
    ++tried;
    EXPECT_EQ(result == -EWOULDBLOCK, !forgets) << "seed " << seed;
    if (forgets) continue;
    EXPECT_TRUE(world.platform().lock("/data", 10'000));
    EXPECT_GE(open_file(world, "/data/a", locked).value(), 0);
  }
  EXPECT_GT(tried, 20);
}

// Completed but unsynced data of a killed process is still there, and a later power cut may take
// it.
TEST(SimDisk, KillKeepsTheCacheButNotItsDurability) {
  int lost = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    sync_directory(world, "/data");
    write_file(world, file, "cached", 0);
    world.crash(CrashKind::process_kill);
    world.restart(1);
    EXPECT_EQ(text_of(world.disk().content("/data/a")), "cached");
    world.crash(CrashKind::power_cut);
    world.restart(1);
    lost += text_of(world.disk().content("/data/a")) == "cached" ? 0 : 1;
  }
  EXPECT_GT(lost, 0);
}

TEST(SimDisk, ShortTransfersKeepTheUnitOfTheFile) {
  SimOptions options;
  options.faults.short_read = options.faults.short_write = 1;
  SimWorld world(7, options);
  const FileId direct = open_file(world, "/data/direct", {.create = true, .direct = true});
  const Block a('a');
  const Block b('b');
  const Block c('c');
  const std::array<Slice, 3> slices{a.slice(), b.slice(), c.slice()};
  const int32_t wrote = wait(world, [&](Op& op) {
    world.core(0).disk.write(op, direct, slices, 0, Durability::none);
  });
  EXPECT_THAT(wrote, AnyOf(4096, 8192));
  EXPECT_EQ(world.disk().content("/data/direct").size(), static_cast<size_t>(wrote));
  const FileId buffered = open_file(world, "/data/buffered");
  EXPECT_THAT(write_file(world, buffered, "0123456789", 0),
              testing::AllOf(testing::Ge(1), testing::Lt(10)));
}

TEST(SimDisk, InterruptedCallsHaveNoEffect) {
  SimOptions options;
  options.faults.interrupted = 1;
  SimWorld world(7, options);
  const FileId file = open_file(world, "/data/a");
  EXPECT_THAT(write_file(world, file, "x", 0), AnyOf(-EINTR, -EAGAIN));
  EXPECT_TRUE(world.disk().content("/data/a").empty());
}

// Never retry a flush: the second one succeeds and the data is not there (RELIABILITY 2.2).
TEST(SimDisk, RetriedFlushLies) {
  int lies = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    write_file(world, file, std::string(512, 'o'), 0);
    sync_file(world, file);
    sync_directory(world, "/data");
    write_file(world, file, std::string(512, 'n'), 0);
    world.faults().sync_error = 1;
    EXPECT_EQ(sync_file(world, file), -EIO);
    world.faults().sync_error = 0;
    EXPECT_EQ(sync_file(world, file), 0);
    EXPECT_EQ(read_file(world, file, 0, 1), "n") << "the cache still shows it";
    const FileId direct = open_file(world, "/data/a", {.direct = true});
    Block block('?');
    wait(world, [&](Op& op) { world.core(0).disk.read(op, direct, block.data, 0); });
    world.crash(CrashKind::power_cut);
    world.restart(1);
    const auto content = text_of(world.disk().content("/data/a"));
    EXPECT_EQ(static_cast<char>(block.data[0]), content[0]) << "a direct read sees the medium";
    lies += content[0] == 'o' ? 1 : 0;
  }
  EXPECT_GT(lies, 5);
}

TEST(SimDisk, FullDiskRefusesGrowthOnly) {
  SimOptions options;
  options.disk_size_bytes = 1 << 20;
  SimWorld world(3, options);
  Disk& disk = world.core(0).disk;
  const FileId file = open_file(world, "/data/a");
  EXPECT_EQ(wait(world, [&](Op& op) { disk.allocate(op, file, 0, 900 << 10); }), 0);
  const FileId other = open_file(world, "/data/b");
  EXPECT_EQ(wait(world, [&](Op& op) { disk.allocate(op, other, 0, 200 << 10); }), -ENOSPC);
  EXPECT_EQ(write_file(world, file, "inside", 800 << 10), 6);
  EXPECT_EQ(wait(world, [&](Op& op) { disk.remove(op, "/data/a"); }), 0);
  EXPECT_EQ(wait(world, [&](Op& op) { disk.allocate(op, other, 0, 200 << 10); }), 0);
  EXPECT_EQ(*disk.free_bytes("/data"), (1u << 20) - (200u << 10));
  EXPECT_EQ(*disk.total_bytes("/data"), 1u << 20);
}

TEST(SimDisk, ReadsPoisonTheirBufferWhileInFlight) {
  SimWorld world(3);
  const FileId file = open_file(world, "/data/a");
  write_file(world, file, "abc", 0);
  std::array<std::byte, 3> into{};
  Waiter read;
  world.core(0).disk.read(read.op, file, into, 0);
  EXPECT_EQ(into[0], std::byte{0xDB});
  world.core(0).loop.run_until(read.op);
  EXPECT_EQ(text_of(into), "abc");
}

TEST(SimDiskDeathTest, BufferChangedWhileInFlight) {
  SimWorld world(3);
  const FileId file = open_file(world, "/data/a");
  std::string text(4096, 'a');
  Waiter write;
  const Slice slice{bytes_of(text).data(), text.size()};
  world.core(0).disk.write(write.op, file, std::span(&slice, 1), 0, Durability::none);
  text[4000] = 'b';
  EXPECT_DEATH(world.core(0).loop.run_until(write.op), "buffer changed while in flight");
  text[4000] = 'a';
  world.core(0).loop.run_until(write.op);
}

TEST(SimDiskDeathTest, DirectTransfersMustBeAligned) {
  SimWorld world(3);
  const FileId file = open_file(world, "/data/a", {.create = true, .direct = true});
  Block block('a');
  Waiter waiter;
  const auto odd = std::span<std::byte>(block.data).subspan(512, 512);
  EXPECT_DEATH(world.core(0).disk.read(waiter.op, file, odd, 0), "direct transfer");
}

TEST(SimDisk, CompletionsAreReordered) {
  bool reordered = false;
  for (uint64_t seed = 0; seed < 20 && !reordered; ++seed) {
    SimWorld world(seed);
    const FileId file = open_file(world, "/data/a");
    Waiter first;
    Waiter second;
    const Slice slice{bytes_of("x").data(), 1};
    world.core(0).disk.write(first.op, file, std::span(&slice, 1), 0, Durability::none);
    world.core(0).disk.write(second.op, file, std::span(&slice, 1), 10, Durability::none);
    world.core(0).loop.run_until(second.op);
    reordered = first.op.armed();
    if (reordered) world.core(0).loop.run_until(first.op);
  }
  EXPECT_TRUE(reordered);
}

TEST(SimDisk, ZeroedFilesCostNothing) {
  SimWorld world(5);
  const FileId file = open_file(world, "/data/a", {.create = true, .direct = true});
  const std::vector<Block> zeroes(16, Block('\0'));
  std::vector<Slice> slices;
  for (const Block& block : zeroes) slices.push_back(block.slice());
  for (uint64_t at = 0; at < 8 << 20; at += 64 << 10) {
    EXPECT_EQ(wait(world, [&](Op& op) {
                world.core(0).disk.write(op, file, slices, at, Durability::none);
              }), 64 << 10);
  }
  EXPECT_EQ(sync_file(world, file), 0);
  EXPECT_EQ(world.core(0).disk.info("/data/a")->size, 8u << 20);
  world.crash(CrashKind::power_cut);
}

TEST(SimDisk, CorruptFlipsBitsForGood) {
  SimWorld world(5);
  const FileId file = open_file(world, "/data/a");
  write_file(world, file, "abc", 0);
  sync_file(world, file);
  sync_directory(world, "/data");
  world.disk().corrupt("/data/a", 1, std::byte{0x01});
  EXPECT_EQ(read_file(world, file, 0, 3), "acc");
  world.crash(CrashKind::power_cut);
  world.restart(1);
  EXPECT_EQ(text_of(world.disk().content("/data/a")), "acc");
}

}  // namespace
}  // namespace weir::io::sim
