// Proves that nothing acknowledged is lost when the power goes: the real program under load on a
// disk that records what reaches it; the recording is cut at random moments, whatever was not
// flushed by chance torn in sectors, and the program started on what is left. Every third cut is
// followed by another one while the program recovers from it. A second load has retention at work,
// so that what it appends goes to files that were segments before: there a torn write shows what
// stood in the file, not zeros.
//
// POWER_CUTS and POWER_SEED set how many and which; PLANTED_BUG names a bug of a program built with
// planted bugs, which must then be found.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <tuple>

#include "tests/crash/disk_fixture.h"

namespace weir::crashtest {
namespace {

constexpr int kLoadTime_ms = 6000;
constexpr int kQuietRate = 1;   // records a millisecond: small appends, which ride in the journal
constexpr int kBurstRate = 40;  // appends of hundreds of kilobytes, which go to the segment at once
constexpr int kPiece_ms = 100;
constexpr int kLook_ms = 10;
constexpr size_t kNestedEach = 3;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

const char* planted_bug() { return std::getenv("PLANTED_BUG"); }

class PowerCut : public DiskFixture {
 protected:
  std::vector<std::string> settings() const override {
    std::vector<std::string> all = DiskFixture::settings();
    if (planted_bug() != nullptr) all.insert(all.end(), {"--planted", planted_bug()});
    return all;
  }

  // Bursts and quiet stretches while the disk records; `load_` knows what was acknowledged when.
  void record() {
    ASSERT_TRUE(disk_->mount());
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    load_ = std::make_unique<Load>(broker.bootstrap(), kQuietRate,
                                   [this] { return disk_->op_count(); });
    first_moment_ = disk_->op_count();
    for (int ms = 0; ms < kLoadTime_ms; ms += kPiece_ms) {
      load_->set_rate(ms / kPiece_ms % 5 == 0 ? kBurstRate : kQuietRate);
      for (int part_ms = 0; part_ms < kPiece_ms; part_ms += kLook_ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kLook_ms));
        look();
      }
    }
    load_->set_paused(true);
    last_moment_ = disk_->op_count();
    broker.kill();
    ASSERT_EQ(load_->error(), "");
    ASSERT_GT(load_->acked_count(), 0u);
    disk_->unmount();
    ops_ = disk_->take_recording();
  }

  // Starts the program on the image and reads everything back; empty, or what was wrong. The disk
  // then holds a recording of the recovery, up to moment `ready_moment_`.
  std::string judge(DiskImage image, const std::map<Load::Place, uint64_t>& acked) {
    judged_ = image;
    ready_moment_ = 0;
    disk_->set_image(std::move(image));
    if (!disk_->mount()) return kNoFileSystem;
    hit_ = cut_hits();
    std::string fault;
    judging_ = true;
    {
      BrokerProcess broker(options());
      if (!broker.wait_ready()) {
        fault = "does not start: " + broker.log();
      } else {
        ready_moment_ = disk_->op_count();
        if (!acked.empty()) {
          const auto read = read_all(broker.bootstrap(), fault, patience_ms_, begin());
          if (fault.empty()) fault = compare_with(acked, read);
        }
      }
    }
    disk_->unmount();
    return fault;
  }

  // Tears the file system's own blocks whole when it does not survive them in sectors: that is a
  // matter of the kernel and counted apart.
  std::string cut_and_judge(RecordingCutter& cutter, size_t moment, std::mt19937_64& random) {
    const auto acked = load_->acked_by(moment);
    Cut cut = cutter.cut(moment, kSectorSize, random);
    std::string fault = judge(cut.image, acked);
    if (fault == kNoFileSystem) {
      ++unmountable_;
      cut = cutter.cut(moment, kPageSize, random);
      fault = judge(cut.image, acked);
    }
    ++load_cuts_;
    if (hit_) ++hits_;
    if (fault.empty()) return fault;
    return fmt::format("cut after {} of {} operations, {} writes loose, {} pieces kept, {} not: {}",
                       moment, ops_.size(), cut.loose_writes, cut.pieces_kept, cut.pieces_lost,
                       fault);
  }

  // Cuts the recovery that the last judge() recorded, somewhere before the program was ready.
  std::string cut_recovery(const std::map<Load::Place, uint64_t>& acked, std::mt19937_64& random) {
    const std::vector<DiskOp> recovery = disk_->take_recording();
    const size_t moment = random() % (ready_moment_ + 1);
    const Cut cut = RecordingCutter(judged_, recovery).cut(moment, kSectorSize, random);
    std::string fault = judge(cut.image, acked);
    if (fault == kNoFileSystem) {
      ++unmountable_;
      return {};
    }
    if (fault.empty()) return fault;
    return fmt::format("cut after {} of {} operations of a recovery: {}", moment, ready_moment_,
                       fault);
  }

  std::vector<size_t> draw_moments(size_t count, std::mt19937_64& random) const {
    std::vector<size_t> moments(count);
    for (size_t& moment : moments) {
      moment = first_moment_ + random() % (last_moment_ - first_moment_ + 1);
    }
    std::ranges::sort(moments);
    return moments;
  }

  // Empty, or what is wrong with what was read back.
  virtual std::string compare_with(const std::map<Load::Place, uint64_t>& acked,
                                   const std::map<Load::Place, uint64_t>& read) const {
    return compare(acked, read);
  }

  virtual Begin begin() const { return Begin::at_zero; }

  // Under load, every few milliseconds.
  virtual void look() {}
  // Whether the mounted image, which no program has seen yet, was cut where it is meant to be.
  virtual bool cut_hits() const { return false; }

  void cut_everywhere(const char* name);

  static constexpr char kNoFileSystem[] = "the file system cannot be mounted";

  std::unique_ptr<Load> load_;
  bool judging_ = false;  // no load from now on
  DiskImage judged_;  // what the last judge() started from
  std::vector<DiskOp> ops_;
  size_t first_moment_ = 0;
  size_t last_moment_ = 0;
  size_t ready_moment_ = 0;
  size_t unmountable_ = 0;
  bool hit_ = false;  // the last image
  size_t load_cuts_ = 0;
  size_t hits_ = 0;   // of these
};

void PowerCut::cut_everywhere(const char* name) {
  const size_t cuts = from_environment("POWER_CUTS", 100);
  std::mt19937_64 random(from_environment("POWER_SEED", 1));
  const DiskImage formatted = disk_->image();
  ASSERT_NO_FATAL_FAILURE(record());
  RecordingCutter cutter(formatted, ops_);
  if (planted_bug() != nullptr) patience_ms_ = 5'000;
  size_t done = 0;
  size_t faults = 0;
  std::string first_fault;
  const auto note = [&](const std::string& fault) {
    ++done;
    if (fault.empty()) return;
    if (faults++ == 0) first_fault = fault;
  };
  for (const size_t moment : draw_moments(cuts - cuts / (kNestedEach + 1), random)) {
    note(cut_and_judge(cutter, moment, random));
    if (planted_bug() != nullptr && faults > 0) break;
    const bool nested = done % (kNestedEach + 1) == kNestedEach;
    if (nested) note(cut_recovery(load_->acked_by(moment), random));
  }
  if (planted_bug() == nullptr) {
    fmt::print("{}: {} power cuts, {} operations, {} records acknowledged, {} faults, {} "
               "unmountable\n",
               name, done, ops_.size(), load_->acked_count(), faults, unmountable_);
    EXPECT_EQ(faults, 0u) << first_fault;
  } else if (faults > 0) {
    fmt::print("{}: found by power cut {}: {}\n", planted_bug(), done, first_fault);
  } else {
    ADD_FAILURE() << planted_bug() << ": NOT FOUND in " << done << " power cuts";
  }
}

TEST_F(PowerCut, NothingAcknowledgedIsLost) { cut_everywhere("fresh segments"); }

// Little is kept, so that most segments are made of files of dropped ones.
class RecycledPowerCut : public PowerCut {
 protected:
  static constexpr uint64_t kKept = 2 << 20;  // bytes of a partition

  std::vector<std::string> settings() const override {
    std::vector<std::string> all = PowerCut::settings();
    if (judging_) return all;  // what is read back stays where it is meanwhile
    for (const char* setting :
         {"log.retention.bytes=2097152", "log.retention.check.interval.ms=50",
          "log.segment.delete.delay.ms=0", "weir.segment.pool.bytes=16777216"}) {
      all.insert(all.end(), {"--set", setting});
    }
    return all;
  }

  Begin begin() const override { return Begin::anywhere; }

  // A file has one inode and time of birth, whatever its name: a segment that was seen under
  // another name before was recycled. Some names live too short to be seen.
  void look() override {
    for_each_file([this](const FileIdentity& file, const std::string& name) {
      first_names_.try_emplace(file, name);
    });
  }
  // What was appended last went to a recycled segment, in one partition at least.
  bool cut_hits() const override {
    std::map<std::string, std::pair<std::string, bool>> newest;  // by directory
    for_each_file([&](const FileIdentity& file, const std::string& name) {
      const std::string directory = name.substr(0, name.rfind('/'));
      if (directory == kPool || newest[directory].first > name) return;
      const auto first = first_names_.find(file);
      newest[directory] = {name, first != first_names_.end() && first->second != name};
    });
    return std::ranges::any_of(newest, [](const auto& entry) { return entry.second.second; });
  }

  // What retention has taken is no fault, if it left what it must and nothing behind it is missing.
  std::string compare_with(const std::map<Load::Place, uint64_t>& acked,
                           const std::map<Load::Place, uint64_t>& read) const override {
    std::map<int32_t, int64_t> first;
    std::map<int32_t, uint64_t> kept;
    for (const auto& [place, id] : read) {
      first.try_emplace(place.first, place.second);
      kept[place.first] += content(id).size();
    }
    std::map<int32_t, uint64_t> sent;
    std::map<Load::Place, uint64_t> expected;
    for (const auto& [place, id] : acked) {
      sent[place.first] += content(id).size();
      const auto from = first.find(place.first);
      if (from == first.end() || place.second >= from->second) expected.emplace(place, id);
    }
    for (const auto& [partition, bytes] : sent) {
      // What a batch and its records need besides is less than the content.
      if (kept[partition] >= std::min(bytes, kKept / 2)) continue;
      return fmt::format("partition {} has {} bytes of {} left", partition, kept[partition], bytes);
    }
    return compare(expected, read);
  }

 private:
  using FileIdentity = std::tuple<uint64_t, int64_t, uint32_t>;
  static constexpr const char* kPool = "pool";

  // Segments of the load and what the pool has, with their names below the data directory. Files
  // come and go meanwhile.
  template <class Visitor>
  void for_each_file(const Visitor& visit) const {
    const std::string data = disk_->mount_point() + "/data";
    std::vector<std::string> directories = {kPool};
    for (int partition = 0; partition < kPartitions; ++partition) {
      directories.push_back(fmt::format("topics/{}-{}.1", kTopic, partition));
    }
    for (const std::string& directory : directories) {
      std::error_code error;
      std::filesystem::directory_iterator entries(data + "/" + directory, error);
      for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        const std::string name = directory + "/" + entries->path().filename().string();
        if (directory != kPool && !name.ends_with(".log")) continue;
        struct statx found {};
        if (::statx(AT_FDCWD, entries->path().c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) {
          continue;
        }
        visit({found.stx_ino, found.stx_btime.tv_sec, found.stx_btime.tv_nsec}, name);
      }
    }
  }

  std::map<FileIdentity, std::string> first_names_;
};

TEST_F(RecycledPowerCut, NothingAcknowledgedIsLost) {
  cut_everywhere("recycled segments");
  if (IsSkipped() || HasFatalFailure() || planted_bug() != nullptr) return;
  fmt::print("recycled segments: {} of {} power cuts under load hit one ({} %)\n", hits_,
             load_cuts_, 100 * hits_ / std::max<size_t>(load_cuts_, 1));
  EXPECT_GT(hits_, 0u) << "this load recycles nothing";
}

// The test of this test: a disk whose last flushes did nothing must be found out.
TEST_F(PowerCut, ADiskThatIgnoresFlushesIsFoundOut) {
  constexpr size_t kIgnored = 20;
  constexpr size_t kCutsMax = 20;
  std::mt19937_64 random(1);
  const DiskImage formatted = disk_->image();
  ASSERT_NO_FATAL_FAILURE(record());
  RecordingCutter cutter(formatted, ops_, kIgnored);
  patience_ms_ = 5'000;
  for (const size_t moment : draw_moments(kCutsMax, random)) {
    const std::string fault = cut_and_judge(cutter, moment, random);
    if (!fault.empty() && !fault.ends_with(kNoFileSystem)) return;
  }
  FAIL() << "nothing was missing after " << kCutsMax << " cuts";
}

}  // namespace
}  // namespace weir::crashtest
