#pragma once
// Helpers of the wire tests: flat bytes, hex, messages filled from a seed.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/wire/codec.h"
#include "engine/wire/schema.h"

namespace weir::wire::testing {

using Buffer = std::vector<std::byte>;

inline constexpr size_t kArenaSizeMax = 64 * 1024 * 1024;

inline Buffer flatten(Pieces pieces) {
  Buffer flat;
  for (const Bytes piece : pieces) flat.insert(flat.end(), piece.begin(), piece.end());
  return flat;
}

inline Buffer from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  Buffer bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

inline std::string to_hex(Bytes bytes) {
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
    hex += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
  }
  return hex;
}

template <class M>
std::string title(int16_t version) {
  return std::string(M::kInfo.name) + std::string(M::kInfo.suffix()) + " v" +
         std::to_string(version);
}

template <class M>
Buffer encoded(const M& m, int16_t version) {
  base::Arena arena(kArenaSizeMax);
  ChainWriter out(arena);
  encode(m, version, out);
  return flatten(out.pieces());
}

// Calls visit.template operator()<M>(version) for each version of each message of a list.
template <class List>
void for_each_version(auto&& visit) {
  List::for_each([&]<class M>() {
    for (int16_t v = M::kInfo.versions.min; v <= M::kInfo.versions.max; ++v) {
      SCOPED_TRACE(title<M>(v));
      visit.template operator()<M>(v);
    }
  });
}

// Visitor that fills the fields of one version with values from a seed: extremes, nulls where they
// are allowed, empty and short arrays, text beyond ASCII.
class RandomFiller {
 public:
  RandomFiller(uint64_t seed, int16_t version, base::Arena& arena)
      : random_(seed), version_(version), arena_(arena) {}

  template <class T>
  void operator()(std::string_view, T& member, const Spec spec = {}) {
    if (!spec.versions.contains(version_)) return;
    if (spec.is_tagged() && below(2) == 0) return;
    fill(member, spec.nullable.contains(version_) && below(4) == 0);
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  template <class T>
  void fill(T& member, bool null) {
    if constexpr (std::is_same_v<T, bool>) {
      member = below(2) == 0;
    } else if constexpr (schema_detail::kIsScalar<T>) {
      const bool extreme = below(3) == 0;
      member = extreme ? std::numeric_limits<T>::min() : static_cast<T>(below(1u << 20));
    } else if constexpr (std::is_same_v<T, Uuid>) {
      for (std::byte& byte : member.bytes) byte = static_cast<std::byte>(below(256));
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      member = text();
    } else if constexpr (std::is_same_v<T, NullableString>) {
      member = null ? NullableString() : NullableString(text());
    } else if constexpr (std::is_same_v<T, Bytes>) {
      member = bytes();
    } else if constexpr (std::is_same_v<T, Records>) {
      member = null ? Records() : Records(bytes());
    } else if constexpr (std::is_same_v<T, RecordsChain>) {
      fill_chain(member, null);
    } else if constexpr (kIsArray<T>) {
      member = null ? T::null() : make_array<typename T::value_type>(arena_, below(4));
      for (auto& element : member) fill(element, false);
    } else if constexpr (OptionalStruct<T>) {
      member.reset();
      if (!null) fill(member.emplace(), false);
    } else {
      T::describe(*this, member);
    }
  }

  void fill_chain(RecordsChain& chain, bool null) {
    chain = {.pieces = {}, .null = null};
    if (null) return;
    const size_t count = below(4);
    Bytes* const pieces = arena_.make_array<Bytes>(count);
    for (size_t i = 0; i < count; ++i) pieces[i] = bytes();
    chain.pieces = {pieces, count};
  }

  std::string_view text() {
    static constexpr std::string_view kTexts[] = {
        "", "a", "topic-1", "käse", "日本語", "😀", "longer than eight bytes at once é"};
    return kTexts[below(std::size(kTexts))];
  }

  Bytes bytes() {
    static constexpr std::byte kBytes[300] = {std::byte{1}, std::byte{0xff}, std::byte{0x80}};
    return Bytes(kBytes).first(below(8) == 0 ? below(sizeof(kBytes)) : below(10));
  }

  std::mt19937_64 random_;
  int16_t version_;
  base::Arena& arena_;
};

template <class M>
M random_message(uint64_t seed, int16_t version, base::Arena& arena) {
  M m;
  RandomFiller filler(seed, version, arena);
  M::describe(filler, m);
  return m;
}

}  // namespace weir::wire::testing
