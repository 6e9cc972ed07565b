// meta.json: golden text, every damaged or foreign directory refused, a lost catalog never replaced
// by an empty one.
#include "engine/catalog/node_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/base/bytes.h"
#include "tests/engine/catalog/catalog_support.h"

namespace weir::catalog {
namespace {

using testing::HasSubstr;

Meta sample() {
  return {.cluster_id = "5L6g3nShT-eMCtK--X86sw",
          .node_id = 1,
          .incarnation = model::Incarnation(3),
          .catalog_created = true,
          .journal_generation = 1,
          .journal_core_count = 2};
}

TEST(NodeIdentityTest, TextIsThatOfTheGoldenFile) {
  const std::string path = WEIR_SOURCE_DIR "/tests/golden/meta-v1.json";
  if (std::getenv("WEIR_WRITE_GOLDEN") != nullptr) std::ofstream(path) << encode_meta(sample());
  std::ifstream file(path);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(encode_meta(sample()), golden);
  const auto meta = decode_meta(golden, "meta.json");
  ASSERT_TRUE(meta) << meta.error().detail;
  EXPECT_EQ(*meta, sample());
}

TEST(NodeIdentityTest, FlippedBitsAreRefused) {
  const std::string good = encode_meta(sample());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto meta = decode_meta(bad, "meta.json");
    if (meta) {
      EXPECT_EQ(*meta, sample()) << "bit " << bit;  // white space
    }
  }
}

TEST(NodeIdentityTest, RefusalsSayWhy) {
  const auto detail = [](std::string_view text) {
    const auto meta = decode_meta(text, "meta.json");
    return meta ? "accepted" : meta.error().detail;
  };
  EXPECT_THAT(detail(""), HasSubstr("not JSON"));
  EXPECT_THAT(detail("[]"), HasSubstr("not JSON"));
  EXPECT_THAT(detail("{}"), HasSubstr("format_version"));
  EXPECT_THAT(detail("{\"format_version\": 2}"), HasSubstr("newer"));
  EXPECT_THAT(detail("{\"format_version\": 1}"), HasSubstr("checksum"));
  std::string edited = encode_meta(sample());
  edited.replace(edited.find("\"node_id\": 1"), 12, "\"node_id\": 2");
  EXPECT_THAT(detail(edited), HasSubstr("edited"));
}

class NodeStartTest : public testing::Test {
 protected:
  base::Status start() {
    TestNode node(world);
    const auto started = node.start();
    incarnation = node.meta.incarnation.value();
    cluster_id = node.meta.cluster_id;
    return started;
  }
  void restart() {
    world.crash(io::sim::CrashKind::power_cut);
    world.restart(1);
  }
  void put(const char* name, std::string_view text) {
    FileIo files(world.core(0).loop, world.core(0).disk, "/data");
    EXPECT_TRUE(files.replace(name, base::as_bytes(text)));
  }
  void remove(const char* name) {
    FileIo files(world.core(0).loop, world.core(0).disk, "/data");
    EXPECT_TRUE(files.remove(name));
  }

  io::sim::SimWorld world{7};
  int32_t incarnation = -1;
  std::string cluster_id;
};

TEST_F(NodeStartTest, EveryStartIsCounted) {
  for (int32_t expected = 0; expected < 4; ++expected) {
    ASSERT_TRUE(start());
    EXPECT_EQ(incarnation, expected);
    EXPECT_EQ(cluster_id.size(), 22u);
    restart();
  }
}

TEST_F(NodeStartTest, ForeignDirectoryIsRefused) {
  put("holiday.jpg", "not ours");
  const auto status = start();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().detail, HasSubstr("holiday.jpg"));
}

TEST_F(NodeStartTest, LostMetaIsRefused) {
  ASSERT_TRUE(start());
  remove("meta.json");
  restart();
  const auto status = start();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().detail, HasSubstr("catalog.log"));
}

TEST_F(NodeStartTest, LostCatalogIsRefused) {
  ASSERT_TRUE(start());
  remove("catalog.log");
  restart();
  const auto status = start();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().detail, HasSubstr("missing"));
}

TEST_F(NodeStartTest, AnotherNodeIdIsRefused) {
  ASSERT_TRUE(start());
  FileIo files(world.core(0).loop, world.core(0).disk, "/data");
  EXPECT_FALSE(load_meta(files, world.core(0).disk, world.core(0).random, 2));
}

// F19: no space at any step leaves a directory that starts once there is space.
TEST_F(NodeStartTest, FullDiskAtStartIsRefusedAndHarmless) {
  for (uint64_t size = 0; size < 20'000; size += 512) {
    world.disk().set_size_bytes(size);
    if (start()) break;
    world.disk().set_size_bytes(uint64_t{1} << 30);
    EXPECT_FALSE(world.disk().exists("/data/meta.json.new"));
    restart();
  }
  world.disk().set_size_bytes(uint64_t{1} << 30);
  restart();
  EXPECT_TRUE(start());
}

}  // namespace
}  // namespace weir::catalog
