#pragma once
// Inflater: the four codecs of record batches behind one streaming call.
//
// One core owns it and reuses it batch after batch; codec states are made when first needed and
// kept. Memory is fixed: a codec's window (zstd frames that want more than kZstdWindowLogMax are
// refused) and for snappy one block, whose size is checked against the bytes that are really there
// before it is allocated. Output stops at a limit, so that a bomb costs no more than its limit
// (RELIABILITY F43).
//
// Accepted: gzip members, lz4 frames and zstd frames, one or several; snappy as one raw block
// (librdkafka) or in xerial framing (Java).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/log/record_batch.h"

namespace weir::log {

enum class InflateStatus : uint8_t { more, end, corrupt, too_large };

// One codec. Implementations in inflater.cc.
class Codec {
 public:
  virtual ~Codec() = default;
  virtual void begin(std::span<const std::byte> compressed) = 0;
  // Writes up to out.size() > 0 bytes; `more` with fewer bytes only where it says so at the next
  // call.
  virtual InflateStatus read(std::span<std::byte> out, size_t& written) = 0;
};

class Inflater {
 public:
  static constexpr int kZstdWindowLogMax = 23;
  // A batch may inflate to this much whatever it shrank from,
  static constexpr size_t kFreeSize = size_t{4} << 20;
  // beyond that to this many times its compressed size,
  static constexpr size_t kRatioMax = 1000;
  // and never to more than this.
  static constexpr size_t kSizeMax = size_t{128} << 20;
  // The limit for a batch whose records have this compressed size.
  [[nodiscard]] static constexpr size_t size_max(size_t compressed_size) {
    return std::min(kSizeMax, std::max(kFreeSize, compressed_size * kRatioMax));
  }

  Inflater();
  ~Inflater();

  // `compressed` must stay until the last read.
  void begin(Compression compression, std::span<const std::byte> compressed);
  // Fills `out` as far as the data goes and returns the bytes written; fewer than out.size() mean
  // that status() is no longer `more`.
  size_t read(std::span<std::byte> out);
  [[nodiscard]] InflateStatus status() const { return status_; }

 private:
  std::unique_ptr<Codec> codecs_[kCompressionMax + 1];
  Codec* codec_ = nullptr;
  size_t left_ = 0;  // bytes of output still allowed
  InflateStatus status_ = InflateStatus::end;
};

}  // namespace weir::log
