// `weir dump --verify` and `weir repair` on directories of the real program: a sound one, whatever
// state a killed broker left it in, has no findings; damage of every kind of file has one that
// names it; nothing is ever written; and what is given up is skipped by consumers from then on.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>

#include "tests/crash/broker_process.h"
#include "tests/crash/command.h"
#include "tests/crash/load.h"
#include "tests/crash/sample.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> contents(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string path = entry.path().string();
    all.emplace(path, entry.is_regular_file() ? read_whole(path) : "");
  }
  return all;
}

void flip(const std::string& path, size_t position) {
  std::string bytes = read_whole(path);
  ASSERT_LT(position, bytes.size()) << path;
  bytes[position] = static_cast<char>(bytes[position] ^ 0x10);
  write_whole(path, bytes);
}

// A directory with the sample, of a broker that was killed; made once.
class VerifyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    original_ = std::make_unique<TempDirectory>();
    BrokerProcess broker({.data = original_->path() + "/data", .more = kSampleSettings});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    ASSERT_NO_THROW(write_sample(broker.bootstrap(), original_->path() + "/data"));
    broker.kill();
  }
  static void TearDownTestSuite() { original_.reset(); }

  void SetUp() override {
    data = directory_.path() + "/data";
    fs::copy(original_->path() + "/data", data, fs::copy_options::recursive);
  }

  // The one file of a folder below the data directory whose name matches; the first of several.
  std::string file(const std::string& folder, const std::string& pattern) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(data + "/" + folder)) {
      const std::string name = entry.path().filename().string();
      if (std::regex_match(name, std::regex(pattern))) found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    EXPECT_FALSE(found.empty()) << folder << " " << pattern;
    return found.empty() ? "" : found.front();
  }
  Outcome verify() const { return run_weir({"dump", "--verify", data}); }
  // There are findings, and a line has all of these.
  void expect_finding(std::vector<std::string> parts) const {
    const auto before = contents(data);
    const Outcome found = verify();
    EXPECT_EQ(found.code, 1) << found.text;
    EXPECT_TRUE(contents(data) == before) << "it wrote";
    size_t at = 0;
    while (at < found.text.size()) {
      const size_t end = found.text.find('\n', at);
      const std::string line = found.text.substr(at, end - at);
      if (std::ranges::all_of(parts, [&](const std::string& part) {
            return line.find(part) != std::string::npos;
          })) {
        return;
      }
      at = end + 1;
    }
    FAIL() << found.text;
  }
  // Those it stands for may be on their way out still.
  std::string newest_cleaned() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(data + "/topics/compacted-0.2")) {
      const std::string name = entry.path().filename().string();
      if (std::regex_match(name, std::regex(R"((\d{20}\.){4}log)"))) {
        found.push_back(entry.path().string());
      }
    }
    EXPECT_FALSE(found.empty());
    return found.empty() ? "" : *std::ranges::max_element(found);
  }
  std::string below(const std::string& path) const { return path.substr(data.size() + 1); }

  std::string data;

 private:
  static std::unique_ptr<TempDirectory> original_;
  TempDirectory directory_;
};
std::unique_ptr<TempDirectory> VerifyTest::original_;

constexpr const char* kSealed = "0{20}\\.log";

TEST_F(VerifyTest, WhatAKilledBrokerLeftIsSound) {
  const auto before = contents(data);
  const Outcome found = verify();
  EXPECT_EQ(found.code, 0);
  EXPECT_EQ(found.text, "0 findings\n");
  EXPECT_TRUE(contents(data) == before) << "it wrote";
}

TEST_F(VerifyTest, SoIsWhatOneLeftThatStopped) {
  BrokerProcess broker({.data = data, .more = kSampleSettings});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  const Outcome busy = verify();
  EXPECT_EQ(busy.code, 2);
  EXPECT_NE(busy.text.find("stop the broker first"), std::string::npos) << busy.text;
  EXPECT_EQ(run_weir({"repair", data}).code, 2);
  EXPECT_EQ(run_weir({"repair", data, "--give-up", "plain-0:1-2"}).code, 2);
  broker.send(SIGTERM);
  ASSERT_EQ(broker.wait_end(20'000), 0) << broker.log();
  EXPECT_EQ(verify().text, "0 findings\n");
}

TEST_F(VerifyTest, OtherDirectoriesAreRefused) {
  EXPECT_EQ(run_weir({"dump", "--verify", data + "/topics"}).code, 2);
  EXPECT_EQ(run_weir({"dump", "--verify", data + "/nothing"}).code, 2);
  EXPECT_EQ(run_weir({"dump", "--verify", data, data}).code, 2);
}

TEST_F(VerifyTest, Meta) {
  flip(data + "/meta.json", 60);
  expect_finding({"meta.json", "next start: the next start is refused"});
}

TEST_F(VerifyTest, Catalog) {
  flip(data + "/catalog.log", 110);
  expect_finding({"catalog.log", "the next start is refused"});
  write_whole(data + "/catalog.log", "");
  expect_finding({"catalog.log", "the next start is refused"});
}

TEST_F(VerifyTest, JournalSuperblocks) {
  const std::string journal = file("journal", ".*\\.journal");
  flip(journal, 4096 + 20);
  expect_finding({below(journal), "superblock copy 1 is damaged", "the other copies"});
  flip(journal, 20);
  flip(journal, 2 * 4096 + 20);
  expect_finding({below(journal), "superblock", "the next start is refused"});
}

TEST_F(VerifyTest, JournalRecords) {
  const std::string journal = file("journal", ".*\\.journal");
  const std::string bytes = read_whole(journal);
  int found = 0;
  for (size_t at = 4 * 4096; at + 4096 <= bytes.size(); at += 4096) {
    if (bytes.compare(at, 8, "WEIRJRN1") != 0) continue;
    if (++found % 4 == 0) flip(journal, at + 300);
  }
  ASSERT_GT(found, 8);
  expect_finding({below(journal), "damaged"});
}

TEST_F(VerifyTest, JournalThatIsGone) {
  const std::string journal = file("journal", ".*\\.journal");
  fs::remove(journal);
  expect_finding({below(journal), "the next start is refused"});
  // What does not need it is checked all the same.
  flip(file("topics/plain-0.1", kSealed), 100);
  expect_finding({"topics/plain-0.1/00000000000000000000.log", "bytes changed"});
}

TEST_F(VerifyTest, Segments) {
  const std::string segment = file("topics/plain-0.1", kSealed);
  flip(segment, 100);
  expect_finding({below(segment), "position 0: bytes changed", "0..3 of plain-0 lost",
                  "weir repair --give-up plain-0:0-3"});
}

TEST_F(VerifyTest, CompactedSegments) {
  const std::string segment = newest_cleaned();
  flip(segment, fs::file_size(segment) - 5);
  expect_finding({below(segment), "bytes changed", "of compacted-0 lost"});
}

TEST_F(VerifyTest, SegmentsCutShort) {
  const std::string segment = file("topics/plain-0.1", kSealed);
  fs::resize_file(segment, fs::file_size(segment) - 10);
  expect_finding({below(segment), "of plain-0 lost"});
  fs::resize_file(segment, 0);
  expect_finding({"topics/plain-0.1", "of plain-0", "lost"});
}

TEST_F(VerifyTest, SegmentsThatAreGone) {
  fs::remove(file("topics/plain-0.1", kSealed));
  expect_finding({"topics/plain-0.1", "0..", "of plain-0 lost", "are refused until"});
}

TEST_F(VerifyTest, Ledgers) {
  const std::string ledger = file("topics/plain-0.1", "0{20}\\.ledger");
  flip(ledger, 70);
  expect_finding({below(ledger), "rebuilt from the segment"});
  flip(ledger, 3);
  expect_finding({below(ledger), "no header"});
  fs::remove(ledger);
  expect_finding({below(ledger), "missing"});
}

TEST_F(VerifyTest, Snapshots) {
  const std::string snapshot = file("topics/plain-0.1", "producers\\.snapshot");
  flip(snapshot, 50);
  expect_finding({below(snapshot), "damaged", "rebuilt from the batches"});
}

// The one segment below it is gone, so its records cannot come back; that they were, is told.
TEST_F(VerifyTest, LogStarts) {
  fs::remove(file("topics/plain-1.1", ".*\\.start"));
  expect_finding({"topics/plain-1.1", "0..", "of plain-1 lost", "are refused until"});
}

TEST_F(VerifyTest, Names) {
  write_whole(data + "/notes", "mine");
  write_whole(data + "/topics/plain-0.1/0.log", "mine");
  fs::create_directory(data + "/topics/plain");
  fs::create_directory(data + "/topics/later-0.99");
  expect_finding({"notes: no file of Weir"});
  expect_finding({"topics/plain-0.1/0.log: no file of a partition"});
  expect_finding({"topics/plain: no directory of a partition"});
  expect_finding({"topics/later-0.99", "catalog does not know"});
  EXPECT_NE(verify().text.find("4 findings\n"), std::string::npos);
}

TEST_F(VerifyTest, NamesAmongJournalsAndInThePool) {
  write_whole(data + "/pool/core-0.0123456789abcdef.7", "of a segment that is gone");
  EXPECT_EQ(verify().text, "0 findings\n");
  write_whole(data + "/pool/photo.jpg", "mine");
  fs::create_directory(data + "/pool/core-0");
  write_whole(data + "/journal/notes.journal", "mine");
  write_whole(data + "/reserve.core-0.bak", "mine");
  expect_finding({"pool/photo.jpg: no file of a segment that is gone", "it is left alone"});
  expect_finding({"pool/core-0: no file of a segment that is gone"});
  expect_finding({"journal/notes.journal: no journal", "it is left alone"});
  expect_finding({"reserve.core-0.bak: no file of Weir"});
  EXPECT_NE(verify().text.find("4 findings\n"), std::string::npos);
  BrokerProcess broker({.data = data, .more = kSampleSettings});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  broker.send(SIGTERM);
  ASSERT_EQ(broker.wait_end(20'000), 0) << broker.log();
  EXPECT_FALSE(fs::exists(data + "/pool/core-0.0123456789abcdef.7"));
  EXPECT_NE(verify().text.find("4 findings\n"), std::string::npos) << "they were left alone";
}

// A directory without a segment is none of a start's business, but its names are looked at.
TEST_F(VerifyTest, PartitionsWithoutRecords) {
  {
    BrokerProcess broker({.data = data, .more = kSampleSettings});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    const Outcome made = run_weir({"topic", "create", "quiet", "--bootstrap", broker.bootstrap()});
    ASSERT_EQ(made.code, 0) << made.text;
    broker.kill();
  }
  fs::create_directories(data + "/topics/quiet-0.6");
  EXPECT_EQ(verify().text, "0 findings\n");
  write_whole(data + "/topics/quiet-0.6/0.log", "mine");
  expect_finding({"topics/quiet-0.6/0.log: no file of a partition"});
}

// A segment whose file is gone: an operator gives it up, and consumers go on behind it.
TEST_F(VerifyTest, RepairGivesAWholeSegmentUpThatIsGone) {
  const auto read = [&] {
    BrokerProcess broker({.data = data, .more = kSampleSettings});
    EXPECT_TRUE(broker.wait_ready()) << broker.log();
    const std::string text = read_log(broker.bootstrap(), {"plain", 0}, "read_uncommitted");
    broker.kill();
    return text;
  };
  const std::string whole = read();
  fs::remove(file("topics/plain-0.1", kSealed));
  const Outcome found = verify();
  ASSERT_EQ(found.code, 1) << found.text;
  std::smatch range;
  ASSERT_TRUE(std::regex_search(found.text, range, std::regex(R"(--give-up (plain-0:0-(\d+)))")))
      << found.text;
  const int64_t last = std::stoll(range[2]);
  const Outcome part = run_weir({"repair", data, "--give-up", "plain-0:0-0"});
  EXPECT_EQ(part.code, 1) << part.text;
  const Outcome repaired = run_weir({"repair", data, "--give-up", range[1]});
  ASSERT_EQ(repaired.code, 0) << repaired.text;
  EXPECT_EQ(verify().text, "0 findings\n");
  // A line for each record; the first is of the log.
  std::string expected;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = whole.find('\n', at) + 1;
    const std::string line = whole.substr(at, end - at);
    if (line[0] == '#' || std::stoll(line) > last) expected += line;
    at = end;
  }
  ASSERT_NE(expected, whole);
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(read(), expected);
    EXPECT_EQ(verify().text, "0 findings\n");
  }
}

TEST_F(VerifyTest, RepairListsAndRefuses) {
  EXPECT_EQ(run_weir({"repair", data}).text, "nothing is damaged\n");
  const Outcome sound = run_weir({"repair", data, "--give-up", "plain-0:1-2"});
  EXPECT_EQ(sound.code, 1);
  EXPECT_EQ(sound.text, "weir: plain-0: nothing is damaged at offsets 1..2\n");
  for (const char* wrong : {"plain-0", "plain-0:3", "plain-0:a-b", "plain-0:1-", "3-4", "x:-1-4"}) {
    EXPECT_EQ(run_weir({"repair", data, "--give-up", wrong}).code, 2) << wrong;
  }
  EXPECT_EQ(run_weir({"repair", data, "--give-up", "plain-7:1-2"}).code, 1);
  flip(file("topics/plain-0.1", kSealed), 100);
  EXPECT_NE(run_weir({"repair", data}).text.find("plain-0:0-3 lost"), std::string::npos);
  const Outcome part = run_weir({"repair", data, "--give-up", "plain-0:0-1"});
  EXPECT_EQ(part.text, "weir: plain-0: offsets 0..3 are lost together: name all of them\n");
}

// The whole way: a bit turns, consumers stop there, an operator gives it up, consumers go on.
TEST(Repair, ConsumersGoOnBehindWhatWasGivenUp) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  options.more.insert(options.more.end(), {"--set", "log.segment.bytes=1048576"});
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  Load load(broker->bootstrap(), 10);
  ASSERT_TRUE(load.wait_acked(20'000)) << load.error();
  ASSERT_TRUE(load.finish()) << load.error();
  broker->send(SIGTERM);
  ASSERT_EQ(broker->wait_end(20'000), 0) << broker->log();
  flip(options.data + "/topics/load-2.1/00000000000000000000.log", 500'000);

  broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  std::string fault;
  read_all(broker->bootstrap(), fault, 3'000);
  EXPECT_NE(fault, "") << "damage is never passed over in silence";
  broker->kill();

  const Outcome found = run_weir({"dump", "--verify", options.data});
  ASSERT_EQ(found.code, 1);
  std::smatch range;
  ASSERT_TRUE(std::regex_search(found.text, range, std::regex(R"(--give-up (load-2:(\d+)-(\d+)))")))
      << found.text;
  EXPECT_NE(found.text.find("\n1 finding\n"), std::string::npos) << found.text;
  const int64_t from = std::stoll(range[2]);
  const int64_t to = std::stoll(range[3]);
  const Outcome repaired = run_weir({"repair", options.data, "--give-up", range[1]});
  ASSERT_EQ(repaired.code, 0) << repaired.text;
  EXPECT_NE(repaired.text.find(fmt::format("load-2 {}..{} given up", from, to)), std::string::npos)
      << repaired.text;
  EXPECT_EQ(run_weir({"dump", "--verify", options.data}).text, "0 findings\n");

  auto expected = load.acked();
  for (int64_t offset = from; offset <= to; ++offset) {
    ASSERT_EQ(expected.erase({2, offset}), 1u);
  }
  for (int life = 0; life < 2; ++life) {
    broker = std::make_unique<BrokerProcess>(options);
    ASSERT_TRUE(broker->wait_ready()) << broker->log();
    fault.clear();
    const auto read = read_all(broker->bootstrap(), fault);
    EXPECT_EQ(fault, "");
    EXPECT_TRUE(read == expected);
    broker->kill();
    EXPECT_EQ(run_weir({"dump", "--verify", options.data}).text, "0 findings\n");
  }
}

}  // namespace
}  // namespace weir::crashtest
