#pragma once
// Batches for tests: some records, a field overwritten, records compressed by the codecs' own
// libraries.

#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/record_batch.h"
#include "io/base/bytes.h"

namespace weir::log {

using Buffer = std::vector<std::byte>;

inline constexpr int64_t kNow = 1'700'000'000'000;  // of wall clocks, ms
inline constexpr int64_t kHour = 3'600'000;           // ms
inline constexpr int64_t kSecond_ns = 1'000'000'000;

inline Buffer to_buffer(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
inline void append(Buffer& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// `count` records with keys k0, k1 …, values of value_size bytes and timestamps from `timestamp`
// on.
inline Buffer make_batch(int32_t count, int64_t timestamp = 1'700'000'000'000,
                         size_t value_size = 10, const BatchOptions& options = {}) {
  BatchBuilder builder(options);
  for (int32_t i = 0; i < count; ++i) {
    const std::string key = "k" + std::to_string(i);
    const std::string value(value_size, static_cast<char>('a' + i % 26));
    builder.append(base::as_bytes(key), base::as_bytes(value), timestamp + i);
  }
  return to_buffer(builder.finish());
}

// Overwrites a header field and makes the CRC right again.
template <class T>
void set_field(Buffer& batch, size_t position, T value) {
  base::store_be(batch.data() + position, value);
  base::store_be(batch.data() + batch_position::kCrc, BatchView(batch).computed_crc());
}

inline Buffer gzip(std::span<const std::byte> raw) {
  Buffer out(compressBound(raw.size()) + 64);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline Buffer snappy_raw(std::span<const std::byte> raw) {
  size_t size = snappy_max_compressed_length(raw.size());
  Buffer out(size);
  snappy_compress(reinterpret_cast<const char*>(raw.data()), raw.size(),
                  reinterpret_cast<char*>(out.data()), &size);
  out.resize(size);
  return out;
}

// As Java writes it: a header, then blocks of at most 32 KiB, each behind its size.
inline Buffer snappy_xerial(std::span<const std::byte> raw) {
  constexpr unsigned char kHeader[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                       0,    0,   0,   1,   0,   0,   0,   1};
  Buffer out = to_buffer(std::as_bytes(std::span(kHeader)));
  while (!raw.empty()) {
    const auto part = raw.first(std::min<size_t>(raw.size(), 32 * 1024));
    const Buffer block = snappy_raw(part);
    std::byte size[4];
    base::store_be(size, static_cast<uint32_t>(block.size()));
    append(out, size);
    append(out, block);
    raw = raw.subspan(part.size());
  }
  return out;
}

inline Buffer lz4(std::span<const std::byte> raw) {
  Buffer out(LZ4F_compressFrameBound(raw.size(), nullptr));
  out.resize(LZ4F_compressFrame(out.data(), out.size(), raw.data(), raw.size(), nullptr));
  return out;
}

// With a window_log: as a stream of unknown size, whose frame really asks for that window.
inline Buffer zstd(std::span<const std::byte> raw, int window_log = 0) {
  Buffer out(ZSTD_compressBound(raw.size()) + 64);
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  ZSTD_inBuffer input{raw.data(), raw.size(), 0};
  if (window_log > 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue);
  }
  ZSTD_compressStream2(context, &output, &input, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  out.resize(output.pos);
  return out;
}

inline Buffer compress(Compression compression, std::span<const std::byte> raw) {
  switch (compression) {
    case Compression::none: return to_buffer(raw);
    case Compression::gzip: return gzip(raw);
    case Compression::snappy: return snappy_raw(raw);
    case Compression::lz4: return lz4(raw);
    case Compression::zstd: return zstd(raw);
  }
  return {};
}

// The header of `batch` with `block` as its records.
inline Buffer with_records(const Buffer& batch, Compression compression,
                           std::span<const std::byte> block) {
  Buffer out(kBatchHeaderSize + block.size());
  std::ranges::copy(std::span(batch).first(kBatchHeaderSize), out.begin());
  std::ranges::copy(block, out.begin() + kBatchHeaderSize);
  const auto attributes = static_cast<int16_t>(
      (BatchView(batch).attributes() & ~batch_attribute::kCompressionMask) |
      static_cast<int16_t>(compression));
  base::store_be(out.data() + batch_position::kAttributes, attributes);
  seal_batch(out);
  return out;
}

inline Buffer compressed(const Buffer& batch, Compression compression) {
  return with_records(batch, compression, compress(compression, BatchView(batch).records()));
}

}  // namespace weir::log
