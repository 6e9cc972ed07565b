#pragma once
// SparseBytes: an endless array of bytes that are zero until written, in pages that exist only
// where something else than zero was written: a pre-zeroed file costs nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weir::io::sim {

bool all_zero(std::span<const std::byte> bytes);

class SparseBytes {
 public:
  SparseBytes() = default;
  SparseBytes(const SparseBytes& other) { *this = other; }
  SparseBytes& operator=(const SparseBytes& other);

  void read(uint64_t position, std::span<std::byte> into) const;
  void write(uint64_t position, std::span<const std::byte> from);
  void zero(uint64_t position, uint64_t size);
  void cut(uint64_t size);  // everything from `size` on is zero again
  // Nothing but zeroes was ever written here; false may be wrong, true never is.
  bool untouched(uint64_t position, uint64_t size) const;
  // Calls function(position, bytes) for every page that exists, in order.
  template <class Function>
  void for_each_page(Function function) const {
    for (size_t i = 0; i < pages_.size(); ++i) {
      if (pages_[i]) function(i * kPageSize, std::span<const std::byte>(*pages_[i]));
    }
  }

 private:
  static constexpr uint64_t kPageSize = 4096;
  using Page = std::array<std::byte, kPageSize>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace weir::io::sim
