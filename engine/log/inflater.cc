#include "engine/log/inflater.h"

#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "io/base/bytes.h"

namespace weir::log {

namespace {

using Bytes = std::span<const std::byte>;

class GzipInflater final : public Codec {
 public:
  GzipInflater() { ok_ = inflateInit2(&stream_, kGzipOnly) == Z_OK; }
  ~GzipInflater() override {
    if (ok_) inflateEnd(&stream_);
  }

  void begin(Bytes compressed) override {
    if (ok_) inflateReset(&stream_);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(compressed.size());
  }

  InflateStatus read(std::span<std::byte> out, size_t& written) override {
    if (!ok_) return InflateStatus::corrupt;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    InflateStatus status = InflateStatus::more;
    while (stream_.avail_out > 0 && status == InflateStatus::more) {
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        // Members may follow one another, as gzip itself writes them when files are joined.
        if (stream_.avail_in == 0) status = InflateStatus::end;
        else inflateReset(&stream_);
      } else if (result != Z_OK) {
        status = InflateStatus::corrupt;
      }
    }
    written = out.size() - stream_.avail_out;
    return status;
  }

 private:
  static constexpr int kGzipOnly = 15 + 16;
  z_stream stream_{};
  bool ok_;
};

// All output of one block is needed at once: a copy may reach back to its first byte.
class SnappyInflater final : public Codec {
 public:
  void begin(Bytes compressed) override {
    input_ = compressed;
    block_used_ = block_size_ = 0;
    framed_ = compressed.size() >= kHeaderSize &&
              std::memcmp(compressed.data(), kMagic, sizeof(kMagic)) == 0;
    if (framed_) input_ = input_.subspan(kHeaderSize);
  }

  InflateStatus read(std::span<std::byte> out, size_t& written) override {
    written = 0;
    while (written < out.size()) {
      if (block_used_ == block_size_) {
        if (input_.empty()) return InflateStatus::end;
        const InflateStatus status = next_block();
        if (status != InflateStatus::more) return status;
        continue;
      }
      const size_t size = std::min(out.size() - written, block_size_ - block_used_);
      std::memcpy(out.data() + written, block_.data() + block_used_, size);
      written += size;
      block_used_ += size;
    }
    return InflateStatus::more;
  }

 private:
  static constexpr unsigned char kMagic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
  static constexpr size_t kHeaderSize = 16;  // magic, version, lowest compatible version
  // The densest element is a copy: 3 bytes for 64.
  static constexpr size_t kExpansionMax = 22;
  static constexpr size_t kKeptSizeMax = size_t{1} << 20;

  InflateStatus next_block() {
    Bytes block = input_;
    size_t start = 0;
    if (framed_) {
      if (input_.size() < 4) return InflateStatus::corrupt;
      const auto size = base::load_be<uint32_t>(input_.data());
      if (size > input_.size() - 4) return InflateStatus::corrupt;
      start = 4;
      block = input_.subspan(start, size);
    }
    input_ = input_.subspan(start + block.size());
    const char* const data = reinterpret_cast<const char*>(block.data());
    size_t size = 0;
    if (snappy_uncompressed_length(data, block.size(), &size) != SNAPPY_OK ||
        size > (block.size() + 1) * kExpansionMax) {
      return InflateStatus::corrupt;
    }
    if (size > Inflater::kSizeMax) return InflateStatus::too_large;
    make_room(size);
    block_used_ = 0;
    block_size_ = size;
    const auto result = snappy_uncompress(
        data, block.size(), reinterpret_cast<char*>(block_.data()), &block_size_);
    return result == SNAPPY_OK ? InflateStatus::more : InflateStatus::corrupt;
  }

  // A large block once in a while must not be kept for ever.
  void make_room(size_t size) {
    if (block_.size() > kKeptSizeMax && size <= kKeptSizeMax) {
      block_.resize(kKeptSizeMax);
      block_.shrink_to_fit();
    }
    if (block_.size() < size) block_.resize(size);
  }

  Bytes input_;
  bool framed_ = false;
  std::vector<std::byte> block_;
  size_t block_size_ = 0;
  size_t block_used_ = 0;
};

class Lz4Inflater final : public Codec {
 public:
  Lz4Inflater() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION))) context_ = nullptr;
  }
  ~Lz4Inflater() override { LZ4F_freeDecompressionContext(context_); }

  void begin(Bytes compressed) override {
    input_ = compressed;
    if (context_ != nullptr) LZ4F_resetDecompressionContext(context_);
    in_frame_ = true;
  }

  InflateStatus read(std::span<std::byte> out, size_t& written) override {
    written = 0;
    if (context_ == nullptr) return InflateStatus::corrupt;
    while (written < out.size()) {
      if (input_.empty() && !in_frame_) return InflateStatus::end;
      size_t produced = out.size() - written;
      size_t consumed = input_.size();
      const size_t hint = LZ4F_decompress(context_, out.data() + written, &produced, input_.data(),
                                          &consumed, nullptr);
      if (LZ4F_isError(hint)) return InflateStatus::corrupt;
      written += produced;
      input_ = input_.subspan(consumed);
      in_frame_ = hint != 0;
      if (in_frame_ && produced == 0 && consumed == 0) return InflateStatus::corrupt;  // cut short
    }
    return InflateStatus::more;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
  Bytes input_;
  bool in_frame_ = false;
};

class ZstdInflater final : public Codec {
 public:
  ZstdInflater() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) return;
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, Inflater::kZstdWindowLogMax);
  }
  ~ZstdInflater() override { ZSTD_freeDCtx(context_); }

  void begin(Bytes compressed) override {
    input_ = {compressed.data(), compressed.size(), 0};
    if (context_ != nullptr) ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    in_frame_ = true;
  }

  InflateStatus read(std::span<std::byte> out, size_t& written) override {
    written = 0;
    if (context_ == nullptr) return InflateStatus::corrupt;
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    while (output.pos < output.size) {
      if (input_.pos == input_.size && !in_frame_) {
        written = output.pos;
        return InflateStatus::end;
      }
      const size_t before = output.pos + input_.pos;
      const size_t hint = ZSTD_decompressStream(context_, &output, &input_);
      written = output.pos;
      if (ZSTD_isError(hint)) return InflateStatus::corrupt;
      in_frame_ = hint != 0;
      if (in_frame_ && output.pos + input_.pos == before) return InflateStatus::corrupt;
    }
    return InflateStatus::more;
  }

 private:
  ZSTD_DCtx* context_;
  ZSTD_inBuffer input_{};
  bool in_frame_ = false;
};

std::unique_ptr<Codec> make_codec(Compression compression) {
  switch (compression) {
    case Compression::gzip: return std::make_unique<GzipInflater>();
    case Compression::snappy: return std::make_unique<SnappyInflater>();
    case Compression::lz4: return std::make_unique<Lz4Inflater>();
    case Compression::zstd: return std::make_unique<ZstdInflater>();
    case Compression::none: break;
  }
  UNREACHABLE("no codec {}", static_cast<int>(compression));
}

}  // namespace

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

void Inflater::begin(Compression compression, std::span<const std::byte> compressed) {
  auto& codec = codecs_[static_cast<size_t>(compression)];
  if (codec == nullptr) codec = make_codec(compression);
  codec_ = codec.get();
  codec_->begin(compressed);
  left_ = size_max(compressed.size());
  status_ = InflateStatus::more;
}

size_t Inflater::read(std::span<std::byte> out) {
  ASSERT(codec_ != nullptr);
  size_t total = 0;
  while (status_ == InflateStatus::more && total < out.size()) {
    if (left_ == 0) {
      // Whether anything would still come is not worth a byte more.
      status_ = InflateStatus::too_large;
      break;
    }
    size_t written = 0;
    status_ = codec_->read(out.subspan(total, std::min(left_, out.size() - total)), written);
    total += written;
    left_ -= written;
  }
  return total;
}

}  // namespace weir::log
