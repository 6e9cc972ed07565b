#pragma once
// StrongInt<Tag, T>: an integer that is one kind of thing. Explicit construction, no implicit
// conversion; point types (offsets, positions) subtract to a count and add a count.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace weir::base {

template <class Tag, class T>
class StrongInt {
  static_assert(std::is_integral_v<T>);

 public:
  using value_type = T;
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  constexpr auto operator<=>(const StrongInt&) const = default;

  // point + count = point; point - point = count; point - count = point
  constexpr StrongInt operator+(T count) const { return StrongInt(static_cast<T>(value_ + count)); }
  constexpr StrongInt operator-(T count) const { return StrongInt(static_cast<T>(value_ - count)); }
  constexpr T operator-(StrongInt other) const { return static_cast<T>(value_ - other.value_); }
  constexpr StrongInt& operator+=(T count) {
    value_ = static_cast<T>(value_ + count);
    return *this;
  }
  constexpr StrongInt& operator++() { ++value_; return *this; }

 private:
  T value_ = 0;
};

}  // namespace weir::base

template <class Tag, class T>
struct std::hash<weir::base::StrongInt<Tag, T>> {
  size_t operator()(weir::base::StrongInt<Tag, T> v) const noexcept {
    return std::hash<T>{}(v.value());
  }
};
