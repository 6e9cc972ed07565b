#include "engine/log/deflater.h"

#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::log {

namespace {

using Bytes = std::span<const std::byte>;
using Output = std::vector<std::byte>;

class PlainDeflater final : public DeflateCodec {
 public:
  bool begin(int32_t) override { return true; }
  bool write(Bytes in, Output& out) override {
    out.insert(out.end(), in.begin(), in.end());
    return true;
  }
  bool end(Output&) override { return true; }
};

class GzipDeflater final : public DeflateCodec {
 public:
  ~GzipDeflater() override { close(); }

  bool begin(int32_t level) override {
    close();
    open_ = deflateInit2(&stream_, std::clamp(level, -1, 9), Z_DEFLATED, kGzip, kMemoryLevel,
                         Z_DEFAULT_STRATEGY) == Z_OK;
    return open_;
  }
  bool write(Bytes in, Output& out) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    while (stream_.avail_in > 0) {
      if (step(Z_NO_FLUSH, out) != Z_OK) return false;
    }
    return true;
  }
  bool end(Output& out) override {
    int result = Z_OK;
    while (result == Z_OK) result = step(Z_FINISH, out);
    close();
    return result == Z_STREAM_END;
  }

 private:
  static constexpr int kGzip = 15 + 16;
  static constexpr int kMemoryLevel = 8;
  static constexpr size_t kStep = size_t{16} << 10;

  int step(int flush, Output& out) {
    const size_t size = out.size();
    out.resize(size + kStep);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream_.avail_out = static_cast<uInt>(kStep);
    const int result = deflate(&stream_, flush);
    out.resize(size + kStep - stream_.avail_out);
    return result;
  }
  void close() {
    if (open_) deflateEnd(&stream_);
    open_ = false;
  }

  z_stream stream_{};
  bool open_ = false;
};

// Blocks of their own size in front, as Java's snappy streams have them: a raw block would have to
// be made in one piece.
class SnappyDeflater final : public DeflateCodec {
 public:
  bool begin(int32_t) override {
    block_.clear();
    started_ = false;
    return true;
  }
  bool write(Bytes in, Output& out) override {
    while (!in.empty()) {
      const size_t size = std::min(in.size(), Deflater::kSnappyBlockSize - block_.size());
      block_.insert(block_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(size));
      in = in.subspan(size);
      if (block_.size() == Deflater::kSnappyBlockSize && !flush(out)) return false;
    }
    return true;
  }
  bool end(Output& out) override { return block_.empty() || flush(out); }

 private:
  // Magic, version 1, lowest compatible version 1.
  static constexpr unsigned char kHeader[16] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                                0,    0,   0,   1,   0,   0,   0,   1};

  bool flush(Output& out) {
    if (!started_) {
      const auto* const header = reinterpret_cast<const std::byte*>(kHeader);
      out.insert(out.end(), header, header + sizeof(kHeader));
      started_ = true;
    }
    const size_t start = out.size();
    size_t size = snappy_max_compressed_length(block_.size());
    out.resize(start + sizeof(uint32_t) + size);
    const auto result = snappy_compress(
        reinterpret_cast<const char*>(block_.data()), block_.size(),
        reinterpret_cast<char*>(out.data() + start + sizeof(uint32_t)), &size);
    base::store_be(out.data() + start, static_cast<uint32_t>(size));
    out.resize(start + sizeof(uint32_t) + size);
    block_.clear();
    return result == SNAPPY_OK;
  }

  Output block_;
  bool started_ = false;
};

class Lz4Deflater final : public DeflateCodec {
 public:
  ~Lz4Deflater() override { LZ4F_freeCompressionContext(context_); }

  bool begin(int32_t level) override {
    if (context_ == nullptr && LZ4F_isError(LZ4F_createCompressionContext(
                                   &context_, LZ4F_VERSION)) != 0) {
      return false;
    }
    preferences_ = {};
    preferences_.frameInfo.blockSizeID = LZ4F_max64KB;
    // Kafka's default of 9 stands for its fast codec.
    preferences_.compressionLevel = level == kDefaultLevel ? 0 : level;
    started_ = false;
    return true;
  }
  bool write(Bytes in, Output& out) override {
    if (!started_ && !start(out)) return false;
    return append(out, LZ4F_compressBound(in.size(), &preferences_), [&](void* to, size_t room) {
      return LZ4F_compressUpdate(context_, to, room, in.data(), in.size(), nullptr);
    });
  }
  bool end(Output& out) override {
    if (!started_ && !start(out)) return false;
    return append(out, LZ4F_compressBound(0, &preferences_), [&](void* to, size_t room) {
      return LZ4F_compressEnd(context_, to, room, nullptr);
    });
  }

 private:
  static constexpr int32_t kDefaultLevel = 9;

  bool start(Output& out) {
    started_ = true;
    return append(out, LZ4F_HEADER_SIZE_MAX, [&](void* to, size_t room) {
      return LZ4F_compressBegin(context_, to, room, &preferences_);
    });
  }
  static bool append(Output& out, size_t room, auto&& produce) {
    const size_t start = out.size();
    out.resize(start + room);
    const size_t written = produce(out.data() + start, room);
    const bool ok = LZ4F_isError(written) == 0;
    out.resize(start + (ok ? written : 0));
    return ok;
  }

  LZ4F_cctx* context_ = nullptr;
  LZ4F_preferences_t preferences_{};
  bool started_ = false;
};

class ZstdDeflater final : public DeflateCodec {
 public:
  ~ZstdDeflater() override { ZSTD_freeCCtx(context_); }

  bool begin(int32_t level) override {
    if (context_ == nullptr) context_ = ZSTD_createCCtx();
    return context_ != nullptr &&
           ZSTD_isError(ZSTD_CCtx_reset(context_, ZSTD_reset_session_and_parameters)) == 0 &&
           set(ZSTD_c_compressionLevel, level) &&
           set(ZSTD_c_windowLog, Deflater::kZstdWindowLog);
  }
  bool write(Bytes in, Output& out) override { return run(in, ZSTD_e_continue, out); }
  bool end(Output& out) override { return run({}, ZSTD_e_end, out); }

 private:
  bool set(ZSTD_cParameter parameter, int value) {
    return ZSTD_isError(ZSTD_CCtx_setParameter(context_, parameter, value)) == 0;
  }
  bool run(Bytes in, ZSTD_EndDirective directive, Output& out) {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    size_t left = 0;
    do {
      const size_t start = out.size();
      const size_t step = ZSTD_CStreamOutSize();
      out.resize(start + step);
      ZSTD_outBuffer output{out.data() + start, step, 0};
      left = ZSTD_compressStream2(context_, &output, &input, directive);
      out.resize(start + output.pos);
      if (ZSTD_isError(left) != 0) return false;
    } while (directive == ZSTD_e_end ? left > 0 : input.pos < input.size);
    return true;
  }

  ZSTD_CCtx* context_ = nullptr;
};

std::unique_ptr<DeflateCodec> make_codec(Compression compression) {
  switch (compression) {
    case Compression::none: return std::make_unique<PlainDeflater>();
    case Compression::gzip: return std::make_unique<GzipDeflater>();
    case Compression::snappy: return std::make_unique<SnappyDeflater>();
    case Compression::lz4: return std::make_unique<Lz4Deflater>();
    case Compression::zstd: return std::make_unique<ZstdDeflater>();
  }
  UNREACHABLE("compression {}", static_cast<int>(compression));
}

}  // namespace

Deflater::Deflater() = default;
Deflater::~Deflater() = default;

void Deflater::begin(const CompressionTarget& target, std::vector<std::byte>& out,
                     size_t out_size_max) {
  auto& codec = codecs_[static_cast<size_t>(target.compression)];
  if (codec == nullptr) codec = make_codec(target.compression);
  codec_ = codec.get();
  out_ = &out;
  out_size_max_ = out_size_max;
  status_ = Status::ok;
  check(codec_->begin(target.level));
}

Deflater::Status Deflater::write(std::span<const std::byte> in) {
  ASSERT(in.size() <= kPieceSizeMax);
  return status_ == Status::ok ? check(codec_->write(in, *out_)) : status_;
}

Deflater::Status Deflater::end() {
  return status_ == Status::ok ? check(codec_->end(*out_)) : status_;
}

Deflater::Status Deflater::check(bool done) {
  ASSERT(done, "a codec failed to compress");
  if (out_->size() > out_size_max_) status_ = Status::too_large;
  return status_;
}

}  // namespace weir::log
