#include "bench/load/crc_shift.h"

#include "io/base/crc32c.h"

namespace weir::load {

CrcShift::CrcShift(uint64_t size_b) {
  for (uint32_t nibble = 0; nibble < tables_.size(); ++nibble) {
    for (uint32_t value = 0; value < tables_[nibble].size(); ++value) {
      tables_[nibble][value] = base::crc32c_combine(value << (4 * nibble), 0, size_b);
    }
  }
}

}  // namespace weir::load
