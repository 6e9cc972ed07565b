#pragma once
// CrcShift: base::crc32c_combine() for one fixed size, prepared: the checksum of A followed by B
// from those of A and B is linear in A's, so that eight look-ups replace a multiplication for
// each bit of the size. For batches, whose rest keeps its size from send to send.

#include <array>
#include <cstdint>

namespace weir::load {

class CrcShift {
 public:
  // size_b: of what follows, in bytes.
  explicit CrcShift(uint64_t size_b);

  [[nodiscard]] uint32_t combine(uint32_t crc_a, uint32_t crc_b) const {
    uint32_t crc = crc_b;
    for (const auto& table : tables_) {
      crc ^= table[crc_a & 15];
      crc_a >>= 4;
    }
    return crc;
  }

 private:
  // By nibble, the lowest first: what its value becomes size_b bytes later.
  std::array<std::array<uint32_t, 16>, 8> tables_{};
};

}  // namespace weir::load
