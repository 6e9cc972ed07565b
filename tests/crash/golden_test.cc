// A data directory of every released format stays readable for ever (RELIABILITY P16, F55): those
// in tests/golden/data were left by brokers that were killed, and each is opened here by the
// present program, which must find every record, offset and transaction in it. A format that is
// newer than the program is refused before anything is touched, or made up for where the file is
// derived.
//
// A new format version gets a directory of its own; those that are there are never written again.
// WEIR_WRITE_GOLDEN=NAME writes tests/golden/data/NAME.txt and NAME-records.txt with the present
// program; run with --gtest_filter=Golden.Write.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/base/bytes.h"
#include "io/base/crc32c.h"
#include "tests/crash/broker_process.h"
#include "tests/crash/command.h"
#include "tests/crash/packed_directory.h"
#include "tests/crash/sample.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGolden = WEIR_SOURCE_DIR "/tests/golden/data/";

// Nothing may happen because the directory is old: offsets and transactions expire, logs are
// compacted and deleted.
std::vector<std::string> settings_for_old_data() {
  std::vector<std::string> settings;
  for (const char* setting :
       {"log.cleaner.enable=false", "log.retention.ms=-1", "weir.disk.reserve.bytes=0",
        "offsets.retention.minutes=2147483647",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms=2147483647"}) {
    settings.insert(settings.end(), {"--set", setting});
  }
  return settings;
}

class GoldenVersions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    data = directory_.path() + "/data";
    const std::string packed = read_whole(std::string(kGolden) + GetParam() + ".txt");
    ASSERT_FALSE(packed.empty());
    unpack_directory(packed, data);
    records = read_whole(std::string(kGolden) + GetParam() + "-records.txt");
    ASSERT_FALSE(records.empty());
  }
  BrokerOptions options() const {
    return {.data = data, .more = settings_for_old_data()};
  }

  std::string data;
  std::string records;

 private:
  TempDirectory directory_;
};

TEST_P(GoldenVersions, EverythingIsReadBack) {
  EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
  for (int life = 0; life < 2; ++life) {
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    EXPECT_EQ(read_sample(broker.bootstrap()), records) << "start " << life;
    if (life == 0) {
      broker.kill();
    } else {
      broker.send(SIGTERM);
      EXPECT_EQ(broker.wait_end(20'000), 0) << broker.log();
    }
    EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
  }
}

TEST_P(GoldenVersions, WritingGoesOn) {
  BrokerProcess broker(options());
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  const Outcome more = run_weir(
      {"topic", "create", "more", "--partitions", "1", "--bootstrap", broker.bootstrap()});
  EXPECT_EQ(more.code, 0) << more.text;
  const Outcome altered = run_weir({"topic", "alter", "plain", "--config", "retention.ms=1000000",
                                    "--bootstrap", broker.bootstrap()});
  EXPECT_EQ(altered.code, 0) << altered.text;
}
INSTANTIATE_TEST_SUITE_P(all, GoldenVersions, testing::Values("v1"));

// The newest directory with one file of a version that nobody knows yet.
class NewerFormat : public testing::Test {
 protected:
  void SetUp() override {
    data = directory_.path() + "/data";
    unpack_directory(read_whole(std::string(kGolden) + "v1.txt"), data);
  }
  // The start is refused with exit code 1 and these words, and the directory stays as it was.
  void expect_refused(const std::string& file, const std::string& words) {
    const std::string before = pack_directory(data);
    BrokerProcess broker({.data = data, .more = settings_for_old_data()});
    EXPECT_EQ(broker.wait_end(20'000), 1);
    EXPECT_NE(broker.log().find(file), std::string::npos) << broker.log();
    EXPECT_NE(broker.log().find(words), std::string::npos) << broker.log();
    EXPECT_TRUE(pack_directory(data) == before) << "something was written";
  }
  void expect_made_up_for() {
    BrokerProcess broker({.data = data, .more = settings_for_old_data()});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    EXPECT_EQ(read_sample(broker.bootstrap()),
              read_whole(std::string(kGolden) + "v1-records.txt"));
  }
  // Every file of the ending in any partition, with `change` done to its bytes.
  template <class Change>
  void change_files(const std::string& ending, const Change& change) {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(data)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(ending)) continue;
      std::string bytes = read_whole(path);
      change(bytes);
      write_whole(path, bytes);
      ++count;
    }
    ASSERT_GT(count, 0) << ending;
  }
  static void put(std::string& bytes, size_t at, uint32_t value) {
    base::store_le(reinterpret_cast<std::byte*>(bytes.data() + at), value);
  }
  static uint32_t crc(const std::string& bytes, size_t from, size_t to) {
    return base::crc32c({reinterpret_cast<const std::byte*>(bytes.data()) + from, to - from});
  }

  std::string data;

 private:
  TempDirectory directory_;
};

TEST_F(NewerFormat, OfTheDirectory) {
  auto meta = nlohmann::json::parse(read_whole(data + "/meta.json"));
  meta["format_version"] = 2;
  meta.erase("crc32c");
  const std::string bare = meta.dump();
  meta["crc32c"] = crc(bare, 0, bare.size());
  write_whole(data + "/meta.json", meta.dump(2) + "\n");
  expect_refused("meta.json", "format 2");
}

TEST_F(NewerFormat, OfTheCatalog) {
  change_files("catalog.log", [](std::string& bytes) {
    put(bytes, 8, 2);
    put(bytes, 60, crc(bytes, 0, 60));
  });
  expect_refused("catalog.log", "version 2");
}

TEST_F(NewerFormat, OfAJournal) {
  change_files(".journal", [](std::string& bytes) {
    for (size_t copy = 0; copy < 4 * 4096; copy += 4096) {
      put(bytes, copy + 12, 2);
      put(bytes, copy + 8, crc(bytes, copy + 12, copy + 4096));
    }
  });
  expect_refused(".journal", "version 2");
}

TEST_F(NewerFormat, OfLedgersAndSnapshotsIsMadeUpFor) {
  change_files(".ledger", [](std::string& bytes) {
    if (bytes.size() > 8) put(bytes, 8, 2);
  });
  change_files("producers.snapshot", [](std::string& bytes) { bytes[7] = '9'; });
  expect_made_up_for();
}

TEST(Golden, Write) {
  const char* const name = std::getenv("WEIR_WRITE_GOLDEN");
  if (name == nullptr) GTEST_SKIP() << "only when WEIR_WRITE_GOLDEN names a new one";
  const std::string path = std::string(kGolden) + name;
  ASSERT_FALSE(fs::exists(path + ".txt")) << "what is there is never written again";
  const TempDirectory directory;
  const std::string data = directory.path() + "/data";
  {
    BrokerProcess broker({.data = data, .more = kSampleSettings});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    write_sample(broker.bootstrap(), data);
    broker.kill();
  }
  const std::string packed = pack_directory(data);
  BrokerProcess broker({.data = data, .more = settings_for_old_data()});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  write_whole(path + "-records.txt", read_sample(broker.bootstrap()));
  write_whole(path + ".txt", packed);
}

}  // namespace
}  // namespace weir::crashtest
