#pragma once
// Decoding and encoding of messages. Declared here, defined in codec_impl.h and instantiated for
// every message in codec_*.cc, so that users compile quickly:
//
//   wire::ProduceRequest request;
//   auto status = wire::decode(request, frame.subspan(body_position), header.api_version, arena);
//   if (!status) { log(wire::to_string(status.error())); close(); }
//   …
//   wire::ProduceResponse response{.responses = wire::make_array<…>(arena, n)};
//   wire::Pieces frame = wire::encode_response(header.correlation_id, header.api_key,
//                                              header.api_version, response, arena);

#include <cstdint>
#include <expected>
#include <string>

#include "engine/wire/chain_writer.h"
#include "engine/wire/decode_error.h"
#include "engine/wire/header.h"
#include "engine/wire/types.h"
#include "io/base/arena.h"

namespace weir::wire {

// Reads the body. Bytes left over are an error, but for requests: Kafka ignores them there, and
// clients count on it (librdkafka 2.12 asks for all topics by Metadata v13 with three too many).
// out is overwritten; it views body and arena
// and is valid as long as both. After an error out must not be read.
template <class M>
[[nodiscard]] std::expected<void, DecodeError> decode(M& out, Bytes body, int16_t version,
                                                      base::Arena& arena);

// The version must be one of the message's; the caller got it from a supported header.
template <class M>
void encode(const M& m, int16_t version, ChainWriter& out);

// Appends the message as one line for a trace: long strings and arrays are shortened.
template <class M>
void print(const M& m, int16_t version, std::string& out);

// A whole response frame, size field included. Small fields lie in the arena, records where they
// were: all must live until the frame is sent. Empty if the arena is full.
template <class M>
[[nodiscard]] Pieces encode_response(int32_t correlation_id, ApiKey api, int16_t version,
                                     const M& m, base::Arena& arena) {
  static_assert(M::kInfo.kind == decltype(M::kInfo.kind)::response);
  ChainWriter out(arena);
  std::byte* const size_field = begin_response(out, correlation_id, api, version);
  encode(m, version, out);
  return finish_frame(out, size_field);
}

// The same for a request, for clients: tools, benches, tests.
template <class M>
[[nodiscard]] Pieces encode_request(int32_t correlation_id, NullableString client_id,
                                    int16_t version, const M& m, base::Arena& arena) {
  static_assert(M::kInfo.kind == decltype(M::kInfo.kind)::request);
  ChainWriter out(arena);
  const auto api = static_cast<ApiKey>(M::kInfo.key);
  std::byte* const size_field = begin_request(out, correlation_id, client_id, api, version);
  encode(m, version, out);
  return finish_frame(out, size_field);
}

}  // namespace weir::wire
