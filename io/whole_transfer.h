#pragma once
// WholeWrite, WholeRead: one transfer carried through short counts and interruptions until all
// bytes are done, the file ends, or an error is final (F18). Owned by the thing that waits, like an
// Op.

#include <cstdint>
#include <span>
#include <vector>

#include "io/disk.h"

namespace weir::io {

class WholeWrite {
 public:
  WholeWrite() { op_.bind<&WholeWrite::on_written>(*this); }

  // Completion calls (owner.*Method)(write); error() says how it went.
  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, WholeWrite& w) { (static_cast<Owner*>(o)->*Method)(w); };
  }

  // pieces() may be filled before start(); the memory they name stays valid until the completion.
  std::vector<Slice>& pieces() { return pieces_; }
  void start(Disk& disk, FileId file, uint64_t position, Durability durability);
  bool armed() const { return op_.armed(); }
  int error() const { return error_; }  // 0 or errno
  io::Op& op() { return op_; }  // for Loop::run_until; armed again while the transfer goes on
  uint64_t size() const { return size_; }

 private:
  void submit();
  void advance(uint64_t written);
  void on_written(Op& op);

  Op op_;
  Disk* disk_ = nullptr;
  FileId file_ = kNoFile;
  uint64_t position_ = 0;  // of the first byte not yet written
  uint64_t left_ = 0;      // bytes not yet written
  uint64_t size_ = 0;
  size_t first_piece_ = 0;
  Durability durability_ = Durability::none;
  uint32_t retries_ = 0;
  int error_ = 0;
  std::vector<Slice> pieces_;
  void* owner_ = nullptr;
  void (*function_)(void*, WholeWrite&) = nullptr;
};

class WholeRead {
 public:
  WholeRead() { op_.bind<&WholeRead::on_read>(*this); }

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, WholeRead& r) { (static_cast<Owner*>(o)->*Method)(r); };
  }

  // The end of a direct file is met inside a block; other files may stop short anywhere, so these
  // are asked until there is no more.
  enum class Access : uint8_t { direct, buffered };
  void start(Disk& disk, FileId file, std::span<std::byte> into, uint64_t position,
             Access access = Access::direct);
  bool armed() const { return op_.armed(); }
  int error() const { return error_; }
  io::Op& op() { return op_; }
  size_t done() const { return done_; }  // fewer than asked for: the file ended

 private:
  void on_read(Op& op);

  Op op_;
  Disk* disk_ = nullptr;
  FileId file_ = kNoFile;
  std::span<std::byte> into_;
  uint64_t position_ = 0;
  size_t done_ = 0;
  Access access_ = Access::direct;
  uint32_t retries_ = 0;
  int error_ = 0;
  void* owner_ = nullptr;
  void (*function_)(void*, WholeRead&) = nullptr;
};

}  // namespace weir::io
