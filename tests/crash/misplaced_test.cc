// Files of a killed program are cut up, swapped, taken away and mixed with older ones; then it is
// started on them. It serves what is whole and refuses the rest, or does not start and says why:
// never a record where another was acknowledged, never nothing where there was something.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/damage_audit.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;
using Acked = std::map<Load::Place, uint64_t>;
using Names = std::set<std::string>;

constexpr size_t kBlock = 4096;
constexpr size_t kRecords = 20'000;  // some 16 MB
constexpr int kMisplacedRate = 20;            // records a millisecond
// More than two write groups of 64 KiB and the batches that overhang them hold.
constexpr size_t kTwoGroups = 800;
const std::vector<std::string> kSmallSegments = {
    "--cores", "2", "--set", "num.partitions=4", "--set", "log.segment.bytes=1048576"};

// What a killed broker left, and what it had acknowledged by then.
struct Remains {
  TempDirectory directory;
  Acked acked;
  std::string data() const { return directory.path() + "/data"; }
};

// Two lives, so that a snapshot, ledgers and journals of different ages can be had.
struct Lives {
  Remains first;
  Remains second;
};

void live(const std::string& data, Acked& acked) {
  BrokerProcess broker({.data = data, .more = kSmallSegments});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  Load load(broker.bootstrap(), kMisplacedRate);
  ASSERT_TRUE(load.wait_acked(kRecords)) << load.error();
  ASSERT_TRUE(load.finish()) << load.error();
  // The last batches are proved acknowledged once the core has been quiet for a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  broker.kill();
  acked = load.acked();
}

const Lives& lives() {
  static const std::unique_ptr<Lives> both = [] {
    auto made = std::make_unique<Lives>();
    live(made->first.data(), made->first.acked);
    fs::copy(made->first.data(), made->second.data(), fs::copy_options::recursive);
    // The second load's records are numbered from 0 again, at offsets behind the first one's.
    live(made->second.data(), made->second.acked);
    made->second.acked.insert(made->first.acked.begin(), made->first.acked.end());
    return made;
  }();
  return *both;
}

std::vector<fs::path> sorted(const fs::path& directory, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::vector<char> read_at(const fs::path& file, size_t position, size_t size) {
  std::vector<char> bytes(size);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(position));
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

void write_at(const fs::path& file, size_t position, const std::vector<char>& bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(position));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// As a disk would that writes each where the other belongs.
void swap_bytes(const fs::path& a, size_t at_a, const fs::path& b, size_t at_b, size_t size) {
  const std::vector<char> from_a = read_at(a, at_a, size);
  write_at(a, at_a, read_at(b, at_b, size));
  write_at(b, at_b, from_a);
}

void swap_files(const fs::path& a, const fs::path& b) {
  const fs::path between = a.string() + ".swap";
  fs::rename(a, between);
  fs::rename(b, a);
  fs::rename(between, b);
}

Names all_files(const fs::path& directory) {
  Names names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    names.insert(fs::relative(entry.path(), directory).string());
  }
  return names;
}

class Misplaced : public ::testing::Test {
 protected:
  void SetUp() override { take(lives().first); }

  void take(const Remains& remains) {
    fs::remove_all(data_);
    fs::copy(remains.data(), data_, fs::copy_options::recursive);
    acked_ = remains.acked;
  }
  void take_from(const Remains& remains, const std::string& name) {
    fs::remove_all(data_ / name);
    fs::copy(fs::path(remains.data()) / name, data_ / name, fs::copy_options::recursive);
  }

  fs::path partition(int32_t index) const {
    return data_ / "topics" / fmt::format("{}-{}.1", kTopic, index);
  }
  fs::path segment(int32_t index, size_t number) const {
    return sorted(partition(index), ".log").at(number);
  }
  std::vector<fs::path> journals() const { return sorted(data_ / "journal", ".journal"); }

  // Starts and reads everything. What is refused may lie in `victims` only, and is `most` at most.
  void expect_contained(const std::set<int32_t>& victims, size_t most, bool some = true) {
    BrokerProcess broker({.data = data_, .more = kSmallSegments});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    const Audit found = audit(broker.port());
    EXPECT_EQ(compare(acked_, found), "") << broker.log();
    for (const auto& [partition, offset] : found.refused) {
      EXPECT_TRUE(victims.contains(partition)) << offset << " of partition " << partition;
    }
    EXPECT_LE(found.refused.size(), most);
    EXPECT_GE(found.refused.size(), some ? 1u : 0u) << "nobody noticed";
    refused_ = found.refused;
    // Appends go on.
    WireConnection connection(broker.port());
    const simtest::ByteString batch = batch_of("more");
    for (int32_t p = 0; p < kPartitions; ++p) {
      const simtest::ProducePart part{.where = {kTopic, p}, .batch = batch};
      const auto answer = connection.ask(simtest::Api::produce, 7,
                                         simtest::produce_request(7, -1, 30'000, {&part, 1}));
      ASSERT_TRUE(answer) << broker.log();
      simtest::Reader body(*answer);
      const auto result = simtest::read_produce(7, body)[part.where];
      EXPECT_EQ(result.error, 0);
      EXPECT_EQ(result.base_offset, found.ends.at(p)) << "partition " << p;
    }
  }

  // Does not start, says `why`, and takes nothing away.
  void expect_refused(const std::string& why) {
    Names before = all_files(data_);
    BrokerProcess broker({.data = data_, .more = kSmallSegments});
    const auto ended = broker.wait_end(60'000);
    ASSERT_TRUE(ended) << broker.log();
    EXPECT_EQ(*ended, 1) << broker.log();
    EXPECT_GE(broker.count_in_log(why), 1) << broker.log();
    const Names after = all_files(data_);
    for (const std::string& name : before) {
      // The room that is kept for a full disk may be made anew.
      EXPECT_TRUE(after.contains(name) || name.starts_with("reserve.")) << name;
    }
  }

  const TempDirectory directory_;
  const fs::path data_ = directory_.path() + "/data";
  Acked acked_;
  std::set<Load::Place> refused_;
};

TEST_F(Misplaced, BlocksOfOneSegmentCostTheirGroups) {
  swap_bytes(segment(1, 0), 16 * kBlock, segment(1, 0), 100 * kBlock, 4 * kBlock);
  expect_contained({1}, kTwoGroups);
}

TEST_F(Misplaced, BlocksOfTwoSegmentsCostTheirGroups) {
  swap_bytes(segment(1, 0), 16 * kBlock, segment(1, 1), 100 * kBlock, 4 * kBlock);
  expect_contained({1}, kTwoGroups);
}

TEST_F(Misplaced, BlocksOfTwoPartitionsCostTheirGroups) {
  swap_bytes(segment(1, 0), 16 * kBlock, segment(2, 0), 16 * kBlock, 4 * kBlock);
  expect_contained({1, 2}, kTwoGroups);
}

// Both are whole segments that begin at offset 0; their ledgers know them apart.
TEST_F(Misplaced, SegmentsOfTwoPartitionsAreRefusedWhole) {
  swap_files(segment(1, 0), segment(2, 0));
  expect_contained({1, 2}, acked_.size());
}

TEST_F(Misplaced, LedgersOfTwoPartitionsAreNotBelieved) {
  swap_files(sorted(partition(1), ".ledger").at(0), sorted(partition(2), ".ledger").at(0));
  expect_contained({1, 2}, acked_.size());
}

// Of the newest records of one size two stand where the other belongs. Not neighbours: each is
// known to the one behind it.
TEST_F(Misplaced, JournalRecordsAreFoundOut) {
  const fs::path journal = journals().at(0);
  struct Record {
    size_t position;
    uint32_t size;
    uint64_t sequence;
  };
  std::vector<Record> records;
  for (size_t at = 4 * kBlock; at + kBlock <= fs::file_size(journal); at += kBlock) {
    const std::vector<char> head = read_at(journal, at, kBlock);
    if (std::string_view(head.data(), 8) != "WEIRJRN1") continue;
    Record record{.position = at, .size = 0, .sequence = 0};
    std::copy_n(head.data() + 40, 8, reinterpret_cast<char*>(&record.sequence));
    std::copy_n(head.data() + 56, 4, reinterpret_cast<char*>(&record.size));
    if (record.size > kBlock) records.push_back(record);
  }
  std::ranges::sort(records, std::ranges::greater(), &Record::sequence);
  for (const Record& record : records) {
    const auto is_twin = [&](const Record& other) {
      return other.size == record.size && other.sequence > record.sequence + 2;
    };
    const auto twin = std::ranges::find_if(records, is_twin);
    if (twin == records.end()) continue;
    swap_bytes(journal, twin->position, journal, record.position, record.size);
    return expect_contained({0, 1, 2, 3}, kTwoGroups, false);
  }
  FAIL() << "no two of " << records.size() << " records are of one size";
}

TEST_F(Misplaced, JournalsOfTwoCoresAreRefused) {
  ASSERT_EQ(journals().size(), 2u);
  swap_files(journals()[0], journals()[1]);
  expect_refused("it is that of core");
}

TEST_F(Misplaced, AMissingSegmentIsRefusedAsAWhole) {
  const auto first = static_cast<int64_t>(std::stoll(segment(1, 1).stem().string()));
  const auto next = static_cast<int64_t>(std::stoll(segment(1, 2).stem().string()));
  fs::remove(sorted(partition(1), ".ledger").at(1));
  fs::remove(segment(1, 1));
  expect_contained({1}, static_cast<size_t>(next - first));
  EXPECT_EQ(refused_.size(), static_cast<size_t>(next - first));
  EXPECT_TRUE(refused_.contains({1, first}));
}

TEST_F(Misplaced, AMissingFirstSegmentIsRefusedAndNotForgotten) {
  const auto next = static_cast<int64_t>(std::stoll(segment(1, 1).stem().string()));
  fs::remove(segment(1, 0));
  expect_contained({1}, static_cast<size_t>(next));
  EXPECT_EQ(refused_.size(), static_cast<size_t>(next));
}

TEST_F(Misplaced, ASegmentCutShortIsRefusedFromThereOn) {
  fs::resize_file(segment(1, 0), fs::file_size(segment(1, 0)) / 2);
  fs::resize_file(segment(2, 0), 0);
  expect_contained({1, 2}, acked_.size() / 2);
}

// Where the journal does not have all of it.
TEST_F(Misplaced, AMissingNewestSegmentIsRefusedOrNotMissed) {
  const fs::path newest = sorted(partition(1), ".log").back();
  fs::remove(newest);
  BrokerProcess broker({.data = data_, .more = kSmallSegments});
  if (broker.wait_ready()) {
    const Audit found = audit(broker.port());
    EXPECT_EQ(compare(acked_, found), "") << broker.log();
    EXPECT_TRUE(found.refused.empty());
    return;
  }
  EXPECT_EQ(broker.wait_end(0), 1) << broker.log();
  EXPECT_GE(broker.count_in_log(newest.filename().string()), 1) << broker.log();
}

TEST_F(Misplaced, AMissingJournalIsRefused) {
  const fs::path journal = journals().at(1);
  fs::remove(journal);
  expect_refused(journal.filename().string());
}

TEST_F(Misplaced, AMissingCatalogIsRefused) {
  fs::remove(data_ / "catalog.log");
  expect_refused("catalog.log");
}

TEST_F(Misplaced, AMissingMetaIsRefused) {
  fs::remove(data_ / "meta.json");
  expect_refused("meta.json");
}

TEST_F(Misplaced, UnknownFilesAreLeftAlone) {
  const std::vector<std::string> unknown = {"notes.txt",
                                            "journal/backup.journal",
                                            "journal/core-0.journal",
                                            "topics/notes.txt",
                                            "topics/other-0.77/00000000000000000000.log",
                                            fmt::format("topics/{}-1.1/notes.txt", kTopic),
                                            fmt::format("topics/{}-1.1/1.log", kTopic)};
  fs::create_directory(data_ / "topics/other-0.77");
  for (const std::string& name : unknown) std::ofstream(data_ / name) << "not ours\n";
  expect_contained({}, 0, false);
  for (const std::string& name : unknown) {
    std::ifstream in(data_ / name);
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "not ours") << name;
  }
}

// A backup of segments from before the last life.
TEST_F(Misplaced, OlderSegmentsUnderANewerJournalAreFoundOut) {
  take(lives().second);
  take_from(lives().first, "topics");
  BrokerProcess broker({.data = data_, .more = kSmallSegments});
  if (!broker.wait_ready()) {
    EXPECT_EQ(broker.wait_end(10'000), 1) << broker.log();
    EXPECT_GE(broker.count_in_log("No such file"), 1) << broker.log();
    return;
  }
  EXPECT_EQ(compare(acked_, audit(broker.port())), "") << broker.log();
  EXPECT_GE(broker.count_in_log("quarantined") + broker.count_in_log("missing records"), 1);
}

TEST_F(Misplaced, NewerSegmentsUnderAnOlderJournalAreRefused) {
  take_from(lives().second, "topics");
  expect_refused("files of different ages were mixed");
}

TEST_F(Misplaced, AnOlderMetaIsRefused) {
  take(lives().second);
  fs::copy_file(fs::path(lives().first.data()) / "meta.json", data_ / "meta.json",
                fs::copy_options::overwrite_existing);
  expect_refused("journal");
}

// A copy that is all of one moment is as good as the directory was then.
TEST_F(Misplaced, AnOlderCopyIsWhatItWas) { expect_contained({}, 0, false); }

class Copied : public ::testing::Test {
 protected:
  static void copy_file(const fs::path& from, const fs::path& to) {
    std::error_code gone;  // files come and go meanwhile
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, gone);
  }

  // Copies in the order of a list that was taken at once, as tools do.
  static void copy(const fs::path& from, const fs::path& to, bool segments_first) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), from));
    }
    const auto late = [&](const fs::path& file) {
      return (*file.begin() == "topics") != segments_first;
    };
    std::ranges::sort(files, {}, [&](const fs::path& file) {
      return std::pair(late(file), file);
    });
    for (const fs::path& file : files) copy_file(from / file, to / file);
  }

  void run(bool segments_first) {
    BrokerProcess broker({.data = directory_.path() + "/data", .more = kSmallSegments});
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    Load load(broker.bootstrap(), kMisplacedRate);
    ASSERT_TRUE(load.wait_acked(kRecords)) << load.error();
    const auto before = load.acked();
    copy(directory_.path() + "/data", directory_.path() + "/copy", segments_first);
    ASSERT_TRUE(load.finish()) << load.error();
    const auto all = load.acked();
    broker.kill();
    BrokerProcess other({.data = directory_.path() + "/copy", .more = kSmallSegments});
    if (!other.wait_ready()) {
      EXPECT_EQ(other.wait_end(10'000), 1) << other.log();
      EXPECT_GE(other.count_in_log("error broker:"), 1) << other.log();
      fmt::print("refused:\n{}", other.log());
      return;
    }
    const Audit found = audit(other.port());
    EXPECT_EQ(found.fault, "") << other.log();
    size_t missing = 0;
    for (const auto& [place, id] : found.records) {
      const auto known = all.find(place);
      ASSERT_TRUE(known != all.end() && known->second == id)
          << "record " << id << " is served at " << place.first << "-" << place.second;
    }
    for (const auto& [place, id] : before) {
      if (!found.records.contains(place)) ++missing;
    }
    fmt::print("{} of {} records are served, {} refused, {} of those before the copy missing\n",
               found.records.size(), all.size(), found.refused.size(), missing);
    const int said = other.count_in_log("quarantined") + other.count_in_log("missing records") +
                     other.count_in_log("damaged");
    EXPECT_GE(said, missing > 0 ? 1 : 0) << other.log();
  }

  const TempDirectory directory_;
};

TEST_F(Copied, InUseSegmentsFirstNothingIsWrong) { run(true); }

TEST_F(Copied, InUseJournalFirstNothingIsWrong) { run(false); }

}  // namespace
}  // namespace weir::crashtest
