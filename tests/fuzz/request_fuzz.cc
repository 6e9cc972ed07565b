// Fuzz target: bytes as the body of any request or response of any version. Whatever decodes must
// encode, decode again to the same bytes, and print; memory stays within the promised factor.
//
// Input: byte 0 picks the API, byte 1 the version (top bit: the response), the rest is the body.
// Byte 0 of 255: the rest is a whole frame, header included.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/wire/all_messages.h"
#include "engine/wire/codec.h"
#include "engine/wire/limits.h"

namespace weir::wire {
namespace {

constexpr size_t kArenaSizeMax = 256 * 1024 * 1024;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::byte> encoded(const auto& m, int16_t version) {
  base::Arena arena(kArenaSizeMax);
  ChainWriter out(arena);
  encode(m, version, out);
  require(!out.failed());
  std::vector<std::byte> flat;
  for (const Bytes piece : out.pieces()) flat.insert(flat.end(), piece.begin(), piece.end());
  return flat;
}

template <class M>
void check_body(Bytes body, int16_t version) {
  base::Arena arena(kArenaSizeMax);
  M m;
  const auto status = decode(m, body, version, arena);
  require(arena.size_used() <= kArenaBytesPerBodyByteMax * body.size());
  if (!status) {
    require(status.error().position <= body.size());
    return;
  }
  const auto once = encoded(m, version);
  base::Arena arena_again(kArenaSizeMax);
  M again;
  require(decode(again, once, version, arena_again).has_value());
  require(encoded(again, version) == once);
  std::string line;
  print(m, version, line);
  require(!line.empty());
}

void check_frame(Bytes frame) {
  size_t position = 0;
  const auto header = decode_header(frame, position);
  if (!header) return;
  require(position <= frame.size());
  if (header->support == RequestHeader::Support::unknown_api_key) return;
  if (header->support == RequestHeader::Support::unsupported_version) return;
  AllRequests::for_key(header->api_key, [&]<class M>() {
    check_body<M>(frame.subspan(position), header->api_version);
  });
}

void check_input(Bytes input) {
  if (input.size() < 2) return;
  const auto selector = std::to_integer<size_t>(input[0]);
  if (selector == 255) return check_frame(input.subspan(1));
  const ApiInfo& api = kApis[selector % kApis.size()];
  const auto choice = std::to_integer<int>(input[1]);
  const int count = api.max_version - api.min_version + 1;
  const auto version = static_cast<int16_t>(api.min_version + (choice & 0x7f) % count);
  const auto run = [&]<class M>() { check_body<M>(input.subspan(2), version); };
  if ((choice & 0x80) == 0) {
    AllRequests::for_key(api.key, run);
  } else {
    AllResponses::for_key(api.key, run);
  }
}

}  // namespace
}  // namespace weir::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exactly the input's size, so that a sanitizer sees any read past it.
  const auto copy = std::make_unique<std::byte[]>(size);
  if (size > 0) std::memcpy(copy.get(), data, size);
  weir::wire::check_input({copy.get(), size});
  return 0;
}
