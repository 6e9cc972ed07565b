#include "engine/journal/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/heap.h"
#include "io/base/units.h"
#include "io/whole_transfer.h"

namespace weir::journal {
namespace {

using base::operator""_KiB;

// Written again and again: no large buffer for zeros.
constexpr size_t kZerosSize = 64_KiB;

using Memory = std::unique_ptr<std::byte, void (*)(void*)>;

Memory zeroed(size_t size) {
  Memory memory(base::allocate_aligned(io::kBlockSize, size), std::free);
  std::memset(memory.get(), 0, size);
  return memory;
}

// One file on its way; owned by create_journals().
class Creation {
 public:
  explicit Creation(const NewJournal& journal)
      : journal_(journal), superblocks_(zeroed(kRecordsBegin)) {
    op_.bind<&Creation::on_op>(*this);
    write_.bind<&Creation::on_write>(*this);
    for (uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
      encode_superblock(journal.superblock, copy,
                        {superblocks_.get() + copy * io::kBlockSize, io::kBlockSize});
    }
  }

  void open(io::Loop& loop, io::Disk& disk) {
    disk.open(op_, journal_.path.c_str(), {.create = true, .direct = true});
    loop.run_until(op_);
    if (op_.result() < 0) return fail(-op_.result());
    file_ = io::FileId(op_.result());
  }
  void start_write(io::Disk& disk, const std::byte* zeros, uint64_t size) {
    if (error_ != 0) return;
    write_.pieces().assign(1, {superblocks_.get(), kRecordsBegin});
    for (uint64_t at = kRecordsBegin; at < size; at += write_.pieces().back().size) {
      write_.pieces().push_back({zeros, std::min<uint64_t>(kZerosSize, size - at)});
    }
    write_.start(disk, file_, 0, io::Durability::none);
  }
  void finish_write(io::Loop& loop) {
    if (error_ != 0) return;
    while (write_.armed() && write_.op().armed()) loop.run_until(write_.op());
    if (write_.error() != 0) fail(write_.error());
  }
  void start_sync(io::Disk& disk, const Creation& first) {
    const bool wrong = model::planted(model::Bug::flush_on_wrong_file);
    if (error_ == 0) disk.sync(op_, wrong ? first.file_ : file_);
  }
  void finish_sync(io::Loop& loop, io::Disk& disk) {
    if (error_ != 0) return;
    loop.run_until(op_);
    if (op_.result() < 0 && model::planted(model::Bug::retry_of_failed_flush)) {
      disk.sync(op_, file_);
      loop.run_until(op_);
    }
    if (op_.result() < 0) fail(-op_.result());
  }
  void close(io::Loop& loop, io::Disk& disk) {
    if (file_ == io::kNoFile) return;
    disk.close(op_, file_);
    loop.run_until(op_);
  }
  base::Status status() const {
    if (error_ == 0) return {};
    return base::error(error_, fmt::format("cannot create journal {}: {}", journal_.path,
                                           std::strerror(error_)));
  }

 private:
  void on_op(io::Op&) {}
  void on_write(io::WholeWrite&) {}
  void fail(int error) { error_ = error; }

  const NewJournal& journal_;
  Memory superblocks_;
  io::Op op_;
  io::WholeWrite write_;
  io::FileId file_ = io::kNoFile;
  int error_ = 0;
};

}  // namespace

base::Status create_journals(io::Loop& loop, io::Disk& disk, std::span<const NewJournal> journals,
                             uint64_t size) {
  const Memory zeros = zeroed(kZerosSize);
  std::vector<std::unique_ptr<Creation>> creations;
  for (const NewJournal& journal : journals) {
    creations.push_back(std::make_unique<Creation>(journal));
    creations.back()->open(loop, disk);
  }
  for (auto& creation : creations) creation->start_write(disk, zeros.get(), size);
  const bool early = model::planted(model::Bug::flush_before_write_completed);
  for (auto& creation : creations) {
    if (!early) creation->finish_write(loop);
  }
  for (auto& creation : creations) creation->start_sync(disk, *creations.front());
  for (auto& creation : creations) creation->finish_sync(loop, disk);
  for (auto& creation : creations) {
    if (early) creation->finish_write(loop);
  }
  for (auto& creation : creations) creation->close(loop, disk);
  for (auto& creation : creations) CHECK_OK(creation->status());
  return {};
}

}  // namespace weir::journal
