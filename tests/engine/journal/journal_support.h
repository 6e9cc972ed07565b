#pragma once
// What the journal's tests share: a journal on one simulated core, and a source that appends bytes
// and remembers what of them is acknowledged.

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/journal/creation.h"
#include "engine/journal/journal.h"
#include "engine/journal/replay.h"
#include "io/base/crc32c.h"
#include "io/base/logging.h"
#include "io/base/random.h"
#include "io/sim/sim_world.h"

namespace weir::journal {

using Bytes = std::vector<std::byte>;

inline LogId log_id(uint8_t byte = 0x5A) {
  LogId id;
  id.bytes.fill(byte);
  return id;
}

inline Bytes filled(size_t size, uint8_t byte) { return Bytes(size, static_cast<std::byte>(byte)); }

// The smallest ring that a journal accepts for its record size.
inline Config tiny_config() {
  Config config;
  config.record_size_max = 64 * 1024;
  config.size_initial = kRecordsBegin + 3 * config.record_size_max;
  config.size_max = config.size_initial;
  config.growth_step = 64 * 1024;
  config.early_commit_bytes = 16 * 1024;
  config.extent_threshold = 32 * 1024;
  config.commits_in_flight_max = 4;
  return config;
}

// One partition without a segment: every byte rides inline; a carry brings all that is not yet
// given up.
class TestSource : public Source {
 public:
  TestSource(Journal& journal, int32_t index) : journal_(journal), index_(index) {}

  void append(size_t size) {
    const uint64_t begin = waiting_.empty() ? end_ : waiting_.back().second;
    waiting_.emplace_back(begin, begin + size);
    journal_.mark_dirty(*this, size);
  }

  // Content of position `at`, the same in every run.
  static std::byte byte_at(int32_t index, uint64_t at) {
    return static_cast<std::byte>((at * 131 + at / 251 + static_cast<uint64_t>(index) * 17) & 0xFF);
  }
  static Bytes content(int32_t index, uint64_t begin, uint64_t end) {
    Bytes bytes;
    for (uint64_t at = begin; at < end; ++at) bytes.push_back(byte_at(index, at));
    return bytes;
  }

  bool contribute(Commit& commit) override {
    if (commit.carry_only()) {
      carry(commit);
      return waiting_.empty() && !carry_wanted_;
    }
    while (!waiting_.empty()) {
      const auto [begin, end] = waiting_.front();
      if (!commit.room_inline(end - begin)) return false;
      add(commit, EntryKind::inline_data, begin, end, begin);
      end_ = end;
      waiting_.pop_front();
    }
    carry(commit);
    return !carry_wanted_;
  }
  void committed(const Part& part) override {
    EXPECT_GE(part.sequence, last_sequence_) << "told out of order";
    last_sequence_ = part.sequence;
    acked_ = std::max(acked_, part.end);
    ++told_;
    if (part.kind == EntryKind::carry) carry_in_flight_ = false;
    if (part.kind == EntryKind::carry || oldest_needed() == 0) {
      journal_.set_needed(*this, part.sequence);
      kept_from_ = part.kind == EntryKind::carry ? part.inline_begin : 0;
    }
  }
  void commit_failed() override { failed_ = true; }
  void make_room() override {
    // As if a segment had taken them: all but the last few bytes are given up, these are carried.
    if (carry_wanted_ || carry_in_flight_) return;
    carry_wanted_ = true;
    journal_.mark_dirty(*this, 0);
  }

  uint64_t acked() const { return acked_; }
  uint64_t appended() const { return waiting_.empty() ? end_ : waiting_.back().second; }
  bool failed() const { return failed_; }
  int told() const { return told_; }
  int32_t index() const { return index_; }

 private:
  void carry(Commit& commit) {
    if (!carry_wanted_ || end_ == 0) return;
    const uint64_t begin = end_ / 4096 * 4096;
    if (!commit.room_inline(end_ - begin)) return;
    add(commit, EntryKind::carry, end_, end_, begin);
    carry_wanted_ = false;
    carry_in_flight_ = true;
  }
  void add(Commit& commit, EntryKind kind, uint64_t begin, uint64_t end, uint64_t inline_begin) {
    const Bytes bytes = content(index_, inline_begin, end);
    Entry entry;
    entry.key = {model::TopicSerial(1), model::PartitionIndex(index_)};
    entry.kind = kind;
    entry.base_offset = model::Offset(static_cast<int64_t>(begin));
    entry.next_offset = model::Offset(static_cast<int64_t>(end));
    entry.begin = begin;
    entry.end = end;
    entry.inline_begin = inline_begin;
    const io::Slice slice{bytes.data(), bytes.size()};
    commit.add(*this, entry, std::span(&slice, 1));
  }

  Journal& journal_;
  int32_t index_;
  std::deque<std::pair<uint64_t, uint64_t>> waiting_;
  uint64_t end_ = 0;  // given to commits
  uint64_t acked_ = 0;
  uint64_t kept_from_ = 0;
  uint64_t last_sequence_ = 0;
  int told_ = 0;
  bool carry_wanted_ = false;
  bool carry_in_flight_ = false;
  bool failed_ = false;
};

class JournalWorld {
 public:
  explicit JournalWorld(uint64_t seed = 1, Config config = tiny_config(),
                        io::sim::SimOptions options = {})
      : config_(config), world_(seed, options) {
    base::set_log_level(base::LogLevel::off);
    op_.bind<&JournalWorld::on_done>(*this);
    core().disk.open(op_, kPath, {.create = true});
    wait();
    core().disk.close(op_, io::FileId(op_.result()));
    wait();
    core().disk.sync_directory(op_, "/data");
    wait();
    const Superblock superblock{log_id(), 1, 0, 1};
    const NewJournal journal{kPath, superblock};
    EXPECT_TRUE(create_journals(core().loop, core().disk, std::span(&journal, 1),
                                config_.size_initial));
    journal_ = std::make_unique<Journal>(core(), config_);
    journal_->open(kPath, log_id(), 1, op_);
    wait();
    EXPECT_EQ(op_.result(), 0);
  }
  ~JournalWorld() {
    if (!world_.crashed()) world_.crash(io::sim::CrashKind::process_kill);
    sources_.clear();
    journal_.reset();
  }

  static constexpr const char* kPath = "/data/core-0.journal";

  io::sim::SimWorld& sim() { return world_; }
  io::CoreIo& core() { return world_.core(0); }
  Journal& journal() { return *journal_; }
  TestSource& source(size_t index) {
    while (sources_.size() <= index) {
      sources_.push_back(
          std::make_unique<TestSource>(*journal_, static_cast<int32_t>(sources_.size())));
    }
    return *sources_[index];
  }
  size_t source_count() const { return sources_.size(); }

  // The journal arms its operations only when they are over, so it is not the loop that waits.
  void wait() {
    run_until([&] { return done_ || world_.crashed(); });
    done_ = false;
  }
  io::Op& op() { return op_; }
  template <class Predicate>
  bool run_until(Predicate predicate) {
    return world_.run_until(predicate, 60'000'000'000);
  }
  bool all_acked() {
    for (const auto& source : sources_) {
      if (source->acked() < source->appended()) return false;
    }
    return true;
  }
  int32_t drain() {
    journal_->drain(op_);
    wait();
    return op_.result();
  }

  // The engine goes, the file stays; then what it says.
  std::vector<uint64_t> crash(io::sim::CrashKind kind) {
    std::vector<uint64_t> acked;
    for (const auto& source : sources_) acked.push_back(source->acked());
    world_.crash(kind);
    sources_.clear();
    journal_.reset();
    world_.restart(1);
    EXPECT_TRUE(world_.platform().lock("/data", 600'000));
    return acked;
  }
  base::Result<Replay> replay(uint64_t generation = 1) {
    return replay_journal(core().loop, core().disk, kPath, generation);
  }

 private:
  void on_done(io::Op&) { done_ = true; }

  Config config_;
  io::sim::SimWorld world_;
  std::unique_ptr<Journal> journal_;
  std::vector<std::unique_ptr<TestSource>> sources_;
  io::Op op_;
  bool done_ = false;
};

// What replay found of one source: bytes [from, from + bytes.size()).
struct FoundSource {
  uint64_t from = 0;
  Bytes bytes;
  uint64_t end() const { return from + bytes.size(); }
};

inline FoundSource found_source(const Replay& replay, int32_t index) {
  FoundSource found;
  bool any = false;
  for (const ReplayedRecord& record : replay.records) {
    for (const ReplayedEntry& replayed : record.entries) {
      const Entry& entry = replayed.entry;
      if (entry.key.index.value() != index) continue;
      if (!any || entry.kind == EntryKind::carry) {
        found = {entry.inline_begin, {}};
      } else {
        EXPECT_EQ(entry.inline_begin, found.end()) << "a hole in what was replayed";
      }
      any = true;
      EXPECT_TRUE(replayed.sound);
      found.bytes.insert(found.bytes.end(), replayed.payload.begin(), replayed.payload.end());
    }
  }
  return found;
}

}  // namespace weir::journal
