#pragma once
// copy_past_cache: memcpy for bytes that this core will not read again soon, a device will: they go
// to memory without first reading what stood there, and leave the cache to what is still needed.
// Worth it from some 32 KiB on.

#include <cstddef>
#include <cstring>
#include <span>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weir::base {

// The ranges do not overlap; `to` has room for all of `from`.
inline void copy_past_cache(std::byte* to, std::span<const std::byte> from) {
#ifdef __SSE2__
  constexpr size_t kLine = 64;
  constexpr size_t kWord = sizeof(__m128i);
  const size_t head = (kWord - reinterpret_cast<size_t>(to) % kWord) % kWord;
  if (from.size() > kLine + head) {
    std::memcpy(to, from.data(), head);
    to += head;
    from = from.subspan(head);
    for (; from.size() >= kLine; to += kLine, from = from.subspan(kLine)) {
      const auto* const source = reinterpret_cast<const __m128i*>(from.data());
      auto* const target = reinterpret_cast<__m128i*>(to);
      const __m128i first = _mm_loadu_si128(source);
      const __m128i second = _mm_loadu_si128(source + 1);
      const __m128i third = _mm_loadu_si128(source + 2);
      const __m128i fourth = _mm_loadu_si128(source + 3);
      _mm_stream_si128(target, first);
      _mm_stream_si128(target + 1, second);
      _mm_stream_si128(target + 2, third);
      _mm_stream_si128(target + 3, fourth);
    }
    _mm_sfence();
  }
#endif
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace weir::base
