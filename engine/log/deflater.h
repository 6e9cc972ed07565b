#pragma once
// Deflater: the codecs of record batches the other way round (Inflater), for topics whose
// compression.type asks for another codec than the producer chose.
//
// One core owns it and reuses it batch after batch. Memory is fixed: codec states of bounded
// windows (kZstdWindowLog, lz4 and snappy blocks), and output that stops at a limit.
//
// Written: a gzip member, an lz4 frame, a zstd frame, snappy in xerial framing as Java writes it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/log/record_batch.h"

namespace weir::log {

// What compression.type and the level beside it say; a level that a codec does not have is taken as
// its next one.
struct CompressionTarget {
  Compression compression = Compression::none;
  int32_t level = 0;
  bool operator==(const CompressionTarget&) const = default;
};

// One codec in use. Implementations in deflater.cc.
class DeflateCodec {
 public:
  virtual ~DeflateCodec() = default;
  // False: the library failed, which it does when there is no memory.
  [[nodiscard]] virtual bool begin(int32_t level) = 0;
  [[nodiscard]] virtual bool write(std::span<const std::byte> in,
                                   std::vector<std::byte>& out) = 0;
  [[nodiscard]] virtual bool end(std::vector<std::byte>& out) = 0;
};

class Deflater {
 public:
  static constexpr int kZstdWindowLog = 20;  // below Inflater::kZstdWindowLogMax
  static constexpr size_t kSnappyBlockSize = size_t{32} << 10;
  // Most bytes taken in one write(): output may go over its limit by what they become.
  static constexpr size_t kPieceSizeMax = size_t{64} << 10;

  enum class Status : uint8_t { ok, too_large };

  Deflater();
  ~Deflater();

  // Appends to `out`, up to about out_size_max bytes of it; `out` must live until end().
  void begin(const CompressionTarget& target, std::vector<std::byte>& out, size_t out_size_max);
  // At most kPieceSizeMax bytes. After a status other than ok nothing more is written.
  Status write(std::span<const std::byte> in);
  Status end();

 private:
  Status check(bool done);

  std::unique_ptr<DeflateCodec> codecs_[kCompressionMax + 1];
  DeflateCodec* codec_ = nullptr;
  std::vector<std::byte>* out_ = nullptr;
  size_t out_size_max_ = 0;
  Status status_ = Status::ok;
};

}  // namespace weir::log
