#pragma once
// ArenaCopy: what a response points at is copied into the arena of its request, because the group
// may change before the response is encoded on another core. ok() once at the end: false when the
// arena was full, then some copies are empty.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/wire/types.h"
#include "io/base/arena.h"

namespace weir::group {

class ArenaCopy {
 public:
  explicit ArenaCopy(base::Arena& arena) : arena_(arena) {}

  std::string_view text(std::string_view from) {
    const auto copy = bytes(std::as_bytes(std::span(from.data(), from.size())));
    return {reinterpret_cast<const char*>(copy.data()), copy.size()};
  }
  wire::NullableString nullable_text(const std::optional<std::string>& from) {
    if (!from) return std::nullopt;
    return text(std::string_view(*from));
  }
  std::span<const std::byte> bytes(std::span<const std::byte> from) {
    if (from.empty()) return {};
    std::byte* const to = arena_.allocate_array<std::byte>(from.size());
    if (to == nullptr) {
      ok_ = false;
      return {};
    }
    std::ranges::copy(from, to);
    return {to, from.size()};
  }
  // Null when the arena is full.
  template <class T>
  wire::Array<T> array(size_t count) {
    auto array = wire::make_array<T>(arena_, count);
    ok_ = ok_ && !array.is_null();
    return array;
  }
  bool ok() const { return ok_; }

 private:
  base::Arena& arena_;
  bool ok_ = true;
};

}  // namespace weir::group
