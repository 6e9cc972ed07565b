// Power cuts whose outcome is picked (io/sim/loose_ends.h): the picks are all that a cut can leave,
// each comes out as it was picked, and the hash tells equal disks from different ones beforehand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/io/sim_support.h"

namespace weir::io::sim {
namespace {

using Picks = std::vector<uint32_t>;

std::vector<Picks> all_picks(const LooseEnds& ends) {
  const auto& outcomes = ends.outcomes();
  std::vector<Picks> all;
  for (Picks picks(outcomes.size(), 0);;) {
    all.push_back(picks);
    size_t i = 0;
    while (i < picks.size() && ++picks[i] == outcomes[i]) picks[i++] = 0;
    if (i == picks.size()) return all;
  }
}

// A synced file with an unsynced write over two of its sectors and one behind its end, another
// that is new, and one that was renamed over a third.
void make_loose_ends(SimWorld& world) {
  const FileId a = open_file(world, "/data/a");
  write_file(world, a, std::string(1024, 'a'), 0);
  sync_file(world, a);
  const FileId b = open_file(world, "/data/b");
  write_file(world, b, std::string(100, 'b'), 0);
  sync_file(world, b);
  const FileId c = open_file(world, "/data/c");
  write_file(world, c, std::string(100, 'c'), 0);
  sync_file(world, c);
  sync_directory(world, "/data");
  write_file(world, a, std::string(1024, 'A'), 512);
  write_file(world, open_file(world, "/data/new"), "n", 0);
  wait(world, [&](Op& op) { world.core(0).disk.rename(op, "/data/b", "/data/c"); });
}

std::string image(const DiskMedia& disk) {
  std::string all;
  for (const std::string& path : disk.files()) {
    all += path + "=" + text_of(disk.content(path)) + ";";
  }
  return all;
}

TEST(SimCut, PicksAreAllThatACutCanLeave) {
  std::set<std::string> picked;
  std::map<std::string, uint64_t> hashes;
  size_t count = 1;
  for (size_t i = 0; i < count; ++i) {
    SimWorld world(1);
    make_loose_ends(world);
    const LooseEnds ends = world.disk().loose_ends();
    // Two directory changes; of a its size and two sectors; of the new file its size and a sector.
    EXPECT_THAT(ends.outcomes(), testing::ElementsAre(2, 2, 2, 2, 2, 2, 2));
    const auto all = all_picks(ends);
    count = all.size();
    const uint64_t hash = world.disk().hash_as(ends, all[i]);
    world.power_cut_as(ends, all[i]);
    world.restart(1);
    const std::string left = image(world.disk());
    picked.insert(left);
    const auto known = hashes.emplace(left, hash).first;
    EXPECT_EQ(known->second, hash) << "equal disks, another hash: " << left;
    EXPECT_EQ(world.disk().hash_as(world.disk().loose_ends(), {}), hash) << left;
  }
  EXPECT_EQ(count, 128u);
  std::set<uint64_t> different;
  for (const auto& [left, hash] : hashes) different.insert(hash);
  EXPECT_EQ(different.size(), picked.size()) << "different disks of one hash";

  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SimWorld world(seed);
    make_loose_ends(world);
    world.crash(CrashKind::power_cut);
    world.restart(1);
    drawn.insert(image(world.disk()));
  }
  EXPECT_TRUE(std::ranges::includes(picked, drawn));
  EXPECT_GT(drawn.size(), picked.size() / 4);
}

TEST(SimCut, WritesInFlightAreLooseAndEqualVersionsAreOne) {
  SimWorld world(2);
  const FileId file = open_file(world, "/data/a");
  write_file(world, file, std::string(1024, 'a'), 0);
  sync_file(world, file);
  sync_directory(world, "/data");
  EXPECT_TRUE(world.disk().loose_ends().outcomes().empty());

  std::string same(1024, 'a');
  same[1023] = 'x';  // the first sector is as it was
  const Slice slice{bytes_of(same).data(), same.size()};
  Waiter waiter;
  const uint64_t before = world.disk().io_events();
  world.core(0).disk.write(waiter.op, file, std::span(&slice, 1), 0, Durability::none);
  EXPECT_EQ(world.disk().io_events(), before + 1);
  const LooseEnds ends = world.disk().loose_ends();
  EXPECT_THAT(ends.outcomes(), testing::ElementsAre(2));
  world.power_cut_as(ends, Picks{1});
  world.restart(1);
  EXPECT_EQ(text_of(world.disk().content("/data/a")), same);
}

TEST(SimCut, AChangeRestsOnEarlierOnesToItsName) {
  SimWorld world(3);
  const FileId file = open_file(world, "/data/a");
  sync_file(world, file);
  wait(world, [&](Op& op) { world.core(0).disk.rename(op, "/data/a", "/data/b"); });
  const LooseEnds ends = world.disk().loose_ends();
  ASSERT_THAT(ends.outcomes(), testing::ElementsAre(2, 2));
  const uint64_t nothing = world.disk().hash_as(ends, Picks{0, 0});
  EXPECT_EQ(world.disk().hash_as(ends, Picks{0, 1}), nothing);
  EXPECT_NE(world.disk().hash_as(ends, Picks{1, 0}), world.disk().hash_as(ends, Picks{1, 1}));
  world.power_cut_as(ends, Picks{1, 1});
  world.restart(1);
  EXPECT_THAT(world.disk().files(), testing::ElementsAre("/data/b"));
}

}  // namespace
}  // namespace weir::io::sim
