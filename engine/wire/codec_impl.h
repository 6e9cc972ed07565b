#pragma once
// Definitions of the templates of codec.h; included by codec_*.cc only.

#include "engine/wire/codec.h"
#include "engine/wire/decoder.h"
#include "engine/wire/encoder.h"
#include "engine/wire/printer.h"
#include "engine/wire/schema.h"

namespace weir::wire {

[[noreturn]] void version_not_encodable(const MessageInfo& info, int16_t version);

template <class M>
std::expected<void, DecodeError> decode(M& out, Bytes body, int16_t version, base::Arena& arena) {
  static_assert(check<M>());
  if (!M::kInfo.has_version(version)) {
    return std::unexpected(DecodeError{DecodeError::Reason::unknown_version, 0, ""});
  }
  out = M{};
  Decoder decoder(body, version, M::kInfo.is_flexible(version), arena);
  decoder.read_struct(out);
  if constexpr (M::kInfo.kind == decltype(M::kInfo.kind)::request) return decoder.status();
  return decoder.finish();
}

template <class M>
void encode(const M& m, int16_t version, ChainWriter& out) {
  if (!M::kInfo.has_version(version)) version_not_encodable(M::kInfo, version);
  Encoder<ChainWriter>(out, version, M::kInfo.is_flexible(version)).write_struct(m);
}

template <class M>
void print(const M& m, int16_t version, std::string& out) {
  Printer printer(out, version);
  printer.print_message(M::kInfo, m);
}

}  // namespace weir::wire

#define WEIR_WIRE_INSTANTIATE(M)                                                              \
  template std::expected<void, DecodeError> decode(M&, Bytes, int16_t, base::Arena&);         \
  template void encode(const M&, int16_t, ChainWriter&);                                      \
  template void print(const M&, int16_t, std::string&)

#define WEIR_WIRE_INSTANTIATE_API(Api) \
  WEIR_WIRE_INSTANTIATE(Api##Request); \
  WEIR_WIRE_INSTANTIATE(Api##Response)
