// Proves F18: a transfer goes on through short counts and interruptions until all is done, gives up
// with the device's error, and gives up on a device that never gets anywhere.
//
// How: over the simulated disk with short and interrupted transfers, and over a scripted disk.
#include "io/whole_transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include "io/base/random.h"
#include "tests/io/sim_support.h"

namespace weir::io {
namespace {

// A write or read that waits for itself.
template <class Transfer>
struct Waited : Transfer {
  Waited() { this->template bind<&Waited::on_over>(*this); }
  void on_over(Transfer&) { ++ended; }
  void wait(sim::SimWorld& world) {
    while (this->armed()) world.core(0).loop.run_until(this->op());
  }
  int ended = 0;
};

class WholeTransfer : public testing::TestWithParam<bool> {};

TEST_P(WholeTransfer, everything_arrives_through_short_counts_and_interruptions) {
  const bool direct = GetParam();
  for (uint64_t seed = 0; seed < 30; ++seed) {
    sim::SimOptions options;
    options.faults.short_read = 0.5;
    options.faults.short_write = 0.5;
    options.faults.interrupted = 0.3;
    sim::SimWorld world(seed, options);
    base::RandomStream random(seed);
    const FileId file = sim::open_file(world, "/data/file", {.create = true, .direct = direct});
    std::vector<std::unique_ptr<sim::Block>> blocks;
    std::vector<std::byte> all;
    Waited<WholeWrite> write;
    for (uint64_t i = 0, count = random.between(1, 40); i < count; ++i) {
      blocks.push_back(std::make_unique<sim::Block>('\0'));
      for (std::byte& byte : blocks.back()->data) byte = static_cast<std::byte>(random.below(256));
      const size_t size = direct ? kBlockSize : random.between(1, kBlockSize);
      write.pieces().push_back({blocks.back()->data.data(), size});
      all.insert(all.end(), blocks.back()->data.begin(),
                 blocks.back()->data.begin() + static_cast<std::ptrdiff_t>(size));
    }
    write.start(world.core(0).disk, file, kBlockSize, Durability::on_completion);
    EXPECT_TRUE(write.armed());
    write.wait(world);
    ASSERT_EQ(write.error(), 0);
    ASSERT_EQ(write.ended, 1);
    ASSERT_EQ(write.size(), all.size());
    auto content = world.disk().content("/data/file");
    content.erase(content.begin(), content.begin() + kBlockSize);
    ASSERT_EQ(content, all) << "seed " << seed;
    if (!direct) continue;
    std::vector<std::byte> read_back;
    struct Aligned {
      explicit Aligned(size_t size)
          : memory(static_cast<std::byte*>(std::aligned_alloc(kBlockSize, size))) {}
      ~Aligned() { std::free(memory); }
      std::byte* memory;
    } into(all.size() + kBlockSize);
    Waited<WholeRead> read;
    read.start(world.core(0).disk, file, {into.memory, all.size() + kBlockSize}, kBlockSize);
    read.wait(world);
    ASSERT_EQ(read.error(), 0);
    ASSERT_EQ(read.done(), all.size()) << "the file ends there";
    ASSERT_TRUE(std::equal(all.begin(), all.end(), into.memory));
  }
}
INSTANTIATE_TEST_SUITE_P(buffered_and_direct, WholeTransfer, testing::Bool());

// Answers writes and reads with a list of results.
class ScriptedDisk : public Disk {
 public:
  explicit ScriptedDisk(Loop& loop) : loop_(loop) {}
  std::deque<int32_t> results;
  std::vector<std::pair<uint64_t, size_t>> calls;  // position, size

  void write(Op& op, FileId, std::span<const Slice> pieces, uint64_t position,
             Durability) override {
    size_t size = 0;
    for (const Slice& piece : pieces) size += piece.size;
    answer(op, position, size);
  }
  void read(Op& op, FileId, std::span<std::byte> into, uint64_t position) override {
    answer(op, position, into.size());
  }
  void open(Op&, const char*, OpenOptions) override {}
  void close(Op&, FileId) override {}
  void sync(Op&, FileId) override {}
  void allocate(Op&, FileId, uint64_t, uint64_t) override {}
  void truncate(Op&, FileId, uint64_t) override {}
  void rename(Op&, const char*, const char*) override {}
  void remove(Op&, const char*) override {}
  void make_directory(Op&, const char*) override {}
  void sync_directory(Op&, const char*) override {}
  base::Result<std::vector<DirectoryEntry>> list(const std::string&) override {
    return base::error(ENOSYS, "");
  }
  base::Result<FileInfo> info(const std::string&) override { return base::error(ENOSYS, ""); }
  base::Result<uint64_t> free_bytes(const std::string&) override {
    return base::error(ENOSYS, "");
  }
  base::Result<uint64_t> total_bytes(const std::string&) override {
    return base::error(ENOSYS, "");
  }
  std::string path_of(FileId) override { return {}; }

 private:
  void answer(Op& op, uint64_t position, size_t size) {
    calls.emplace_back(position, size);
    int32_t result = static_cast<int32_t>(size);
    if (!results.empty()) {
      result = results.front();
      if (results.size() > 1) results.pop_front();
    }
    loop_.post(op, result);
  }
  Loop& loop_;
};

class ScriptedTransfer : public testing::Test {
 protected:
  ScriptedTransfer() : disk(world.core(0).loop) {}
  int write(std::deque<int32_t> results) {
    disk.results = std::move(results);
    disk.calls.clear();
    Waited<WholeWrite> transfer;
    for (int i = 0; i < 3; ++i) transfer.pieces().push_back({bytes.data(), kBlockSize});
    transfer.start(disk, FileId(0), 8192, Durability::none);
    transfer.wait(world);
    EXPECT_EQ(transfer.ended, 1);
    return transfer.error();
  }
  std::pair<int, size_t> read(std::deque<int32_t> results) {
    disk.results = std::move(results);
    disk.calls.clear();
    Waited<WholeRead> transfer;
    transfer.start(disk, FileId(0), bytes, 8192);
    transfer.wait(world);
    EXPECT_EQ(transfer.ended, 1);
    return {transfer.error(), transfer.done()};
  }

  sim::SimWorld world{1};
  ScriptedDisk disk;
  std::vector<std::byte> bytes = std::vector<std::byte>(3 * kBlockSize);
};

using Calls = std::vector<std::pair<uint64_t, size_t>>;

TEST_F(ScriptedTransfer, a_write_goes_on_at_the_last_whole_block) {
  EXPECT_EQ(write({5'000, 8'192}), 0);
  EXPECT_EQ(disk.calls, (Calls{{8192, 12288}, {12288, 8192}}));
}

TEST_F(ScriptedTransfer, a_write_is_not_repeated_after_an_error) {
  for (const int error : {EIO, ENOSPC, EBADF}) {
    EXPECT_EQ(write({-error}), error);
    EXPECT_EQ(disk.calls.size(), 1u);
  }
  EXPECT_EQ(write({4096, -EIO}), EIO);
}

TEST_F(ScriptedTransfer, a_device_that_gets_nowhere_is_given_up) {
  EXPECT_EQ(write({-EINTR}), EINTR);
  EXPECT_LE(disk.calls.size(), 100u);
  EXPECT_EQ(write({0}), EIO);
  EXPECT_LE(disk.calls.size(), 100u);
  EXPECT_EQ(read({-EAGAIN}).first, EAGAIN);
  EXPECT_LE(disk.calls.size(), 100u);
}

TEST_F(ScriptedTransfer, a_read_ends_with_the_file) {
  EXPECT_EQ(read({0}), (std::pair<int, size_t>(0, 0)));
  EXPECT_EQ(read({4096, 0}), (std::pair<int, size_t>(0, 4096)));
  EXPECT_EQ(read({4096, 100}), (std::pair<int, size_t>(0, 4196)));
  EXPECT_EQ(read({4096, -EINTR, 8192}), (std::pair<int, size_t>(0, 12288)));
  EXPECT_EQ(read({-EIO}).first, EIO);
}

TEST_F(ScriptedTransfer, more_pieces_than_one_call_takes) {
  disk.results.clear();
  Waited<WholeWrite> transfer;
  for (size_t i = 0; i < kSlicesMax + 10; ++i) {
    transfer.pieces().push_back({bytes.data(), kBlockSize});
  }
  transfer.start(disk, FileId(0), 0, Durability::none);
  transfer.wait(world);
  EXPECT_EQ(transfer.error(), 0);
  EXPECT_EQ(disk.calls, (Calls{{0, kSlicesMax * kBlockSize},
                               {kSlicesMax * kBlockSize, 10 * kBlockSize}}));
}

}  // namespace
}  // namespace weir::io
