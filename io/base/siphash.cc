#include "io/base/siphash.h"

#include <bit>

#include "io/base/bytes.h"

namespace weir::base {
namespace {

struct State {
  uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  uint64_t sum() const { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace

Digest128 siphash128(const SipKey& key, std::span<const std::byte> bytes) {
  State state{key.low ^ 0x736f6d6570736575ull, key.high ^ 0x646f72616e646f6dull ^ 0xee,
              key.low ^ 0x6c7967656e657261ull, key.high ^ 0x7465646279746573ull};
  const uint64_t size = bytes.size();
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) state.take(load_le<uint64_t>(bytes.data()));
  uint64_t last = size << 56;
  for (size_t i = 0; i < bytes.size(); ++i) {
    last |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  }
  state.take(last);
  Digest128 digest;
  state.v2 ^= 0xee;
  state.rounds(4);
  digest.low = state.sum();
  state.v1 ^= 0xdd;
  state.rounds(4);
  digest.high = state.sum();
  return digest;
}

}  // namespace weir::base
