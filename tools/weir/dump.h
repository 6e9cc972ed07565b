#pragma once
// weir dump: one function per kind of file. Each prints the file as text, marks what is damaged,
// and
// returns how many places are. Files are read with plain reads and never written.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/model/ids.h"

namespace weir::tools {

struct DumpOptions {
  bool details = false;  // the records of each batch, the entries of each journal record
};

// A file read in pieces; what was read last stays until the next read.
class InputFile {
 public:
  // Throws Failure when it cannot be opened.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] uint64_t size() const { return size_; }
  // The bytes [position, position + size), fewer at the end of the file. Valid until the next call.
  std::span<const std::byte> read(uint64_t position, size_t size);
  std::vector<std::byte> read_all();
  // Whether nothing but zeros follows.
  bool is_zero_from(uint64_t position);

 private:
  static constexpr size_t kWindow = size_t{1} << 20;

  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  uint64_t window_begin_ = 0;
  std::vector<std::byte> window_;
};

int dump_segment(const std::string& path, const DumpOptions& options);
int dump_ledger(const std::string& path);
int dump_producer_snapshot(const std::string& path);
int dump_journal(const std::string& path, const DumpOptions& options);
int dump_catalog(const std::string& path);
int dump_meta(const std::string& path);

// Bytes for people: "text" where they are printable, else with \xNN; cut after some 100 bytes.
std::string printable(std::span<const std::byte> bytes);

}  // namespace weir::tools
