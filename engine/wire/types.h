#pragma once
// The types of message fields beyond plain integers. All are views: strings and bytes look into the
// request buffer (or, in a response, at what the handler owns), arrays into the request's arena.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "io/base/arena.h"
#include "io/base/uuid.h"

namespace weir::wire {

using base::Uuid;

using NullableString = std::optional<std::string_view>;
using Bytes = std::span<const std::byte>;
using NullableBytes = std::optional<Bytes>;

// Buffers that follow one another, not copied together.
using Pieces = std::span<const Bytes>;

// Record batches as a producer sent them; null is possible on the wire.
struct Records : NullableBytes {
  constexpr Records() = default;
  constexpr Records(std::nullopt_t) {}                // NOLINT: as in std::optional
  constexpr Records(Bytes bytes) : NullableBytes(bytes) {}  // NOLINT: as in std::optional
};

// Record batches on their way to a consumer, by reference: pieces and what they point at must live
// until the response is sent. Empty is encoded as length zero; null only where asked for, because
// librdkafka and sarama fail on it.
struct RecordsChain {
  Pieces pieces{};
  bool null = false;

  [[nodiscard]] constexpr size_t size() const {
    size_t size = 0;
    for (const Bytes piece : pieces) size += piece.size();
    return size;
  }
};

// A view of elements in an arena, mutable through it; copying copies the view. Empty by default,
// which on the wire differs from null.
template <class T>
class Array {
 public:
  using value_type = T;

  constexpr Array() = default;
  constexpr Array(T* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] static constexpr Array null() {
    Array array;
    array.null_ = true;
    return array;
  }

  [[nodiscard]] constexpr bool is_null() const { return null_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr size_t size() const { return size_; }
  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr T* begin() const { return data_; }
  [[nodiscard]] constexpr T* end() const { return data_ + size_; }
  [[nodiscard]] constexpr T& operator[](size_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  bool null_ = false;
};

// A struct that may be null, where the schema says so: std::optional of it.
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
inline constexpr bool kIsArray = false;
template <class T>
inline constexpr bool kIsArray<Array<T>> = true;

// count elements with the schema's defaults. When the arena is full the result is a null array:
// check is_null() where count comes from outside.
template <class T>
[[nodiscard]] Array<T> make_array(base::Arena& arena, size_t count) {
  T* const first = arena.make_array<T>(count);
  return first == nullptr ? Array<T>::null() : Array<T>(first, count);
}

}  // namespace weir::wire
