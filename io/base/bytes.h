#pragma once
// Loads and stores of integers at any address, in a named byte order, and two small bounded
// cursors. Nothing here allocates.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weir::base {

static_assert(std::endian::native == std::endian::little, "Weir runs on little-endian machines");

template <std::integral T>
[[nodiscard]] inline T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <std::integral T>
[[nodiscard]] inline T load_be(const std::byte* from) {
  return std::byteswap(load_le<T>(from));
}

template <std::integral T>
inline void store_le(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <std::integral T>
inline void store_be(std::byte* to, T value) {
  store_le(to, std::byteswap(value));
}

[[nodiscard]] inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The view lives as long as the bytes; nothing says they are text.
[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads fixed-width fields off the front of a span that must outlive it. The first read past the
// end fails the reader for good: that read and all later ones give zero or an empty span, so a
// caller reads a whole structure and asks ok() once.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }

  template <std::integral T>
  T read_be() {
    const auto field = read_bytes(sizeof(T));
    return field.empty() ? T{} : load_be<T>(field.data());
  }

  template <std::integral T>
  T read_le() {
    const auto field = read_bytes(sizeof(T));
    return field.empty() ? T{} : load_le<T>(field.data());
  }

  std::span<const std::byte> read_bytes(size_t size) {
    if (failed_ || size > remaining()) {
      failed_ = true;
      position_ = bytes_.size();
      return {};
    }
    const auto field = bytes_.subspan(position_, size);
    position_ += size;
    return field;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;  // <= bytes_.size()
  bool failed_ = false;
};

// Writes fixed-width fields to the front of a span that must outlive it. A write that does not fit
// writes nothing and fails the writer for good.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::span<const std::byte> written() const { return bytes_.first(position_); }

  template <std::integral T>
  void write_be(T value) {
    if (std::byte* to = advance(sizeof(T))) store_be(to, value);
  }

  template <std::integral T>
  void write_le(T value) {
    if (std::byte* to = advance(sizeof(T))) store_le(to, value);
  }

  void write_bytes(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;  // memcpy must not see a null pointer
    if (std::byte* to = advance(bytes.size())) std::memcpy(to, bytes.data(), bytes.size());
  }

 private:
  std::byte* advance(size_t size) {
    if (failed_ || size > remaining()) {
      failed_ = true;
      return nullptr;
    }
    std::byte* to = bytes_.data() + position_;
    position_ += size;
    return to;
  }

  std::span<std::byte> bytes_;
  size_t position_ = 0;  // <= bytes_.size()
  bool failed_ = false;
};

}  // namespace weir::base
