#pragma once
// Request and response headers, all versions, and the frame around them:
//
//   frame            size int32 | header | body            size counts what follows it
//   request header   v1: api key int16 | api version int16 | correlation id int32 | client id
//                    v2: the same | tagged fields          for flexible versions
//   response header  v0: correlation id int32
//                    v1: the same | tagged fields          for flexible versions but ApiVersions
//
// The client id is a nullable string with an int16 length in v1 and in v2.

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/wire/api_key.h"
#include "engine/wire/chain_writer.h"
#include "engine/wire/decode_error.h"
#include "engine/wire/types.h"

namespace weir::wire {

struct RequestHeader {
  // Anything but served ends the connection, with one exception: ApiVersions of an unsupported
  // version is answered in version 0 with error 35. In both cases the body must not be decoded.
  enum class Support : uint8_t { served, not_served, unknown_api_key, unsupported_version };

  ApiKey api_key{};  // any int16 while support is unknown_api_key
  int16_t api_version = 0;
  int32_t correlation_id = 0;
  NullableString client_id{};  // views the frame
  Support support = Support::served;
};

// Parses the header of a frame (its size field already taken off) and sets where the body starts.
// Headers of unknown keys and versions are parsed as far as they can be, for the log line.
[[nodiscard]] std::expected<RequestHeader, DecodeError> decode_header(Bytes frame,
                                                                      size_t& body_position);

// For clients: parses a response header and gives its correlation id.
[[nodiscard]] std::expected<int32_t, DecodeError> decode_response_header(Bytes frame, ApiKey api,
                                                                         int16_t version,
                                                                         size_t& body_position);

// Response header v1 has tagged fields; ApiVersions never uses it, so that a client can read the
// answer before it knows what the broker speaks.
[[nodiscard]] constexpr int16_t response_header_version(ApiKey api, int16_t version) {
  return api != ApiKey::api_versions && api_info(api).is_flexible(version) ? 1 : 0;
}

// begin_*: the size field, still empty, and the header. finish_frame: fills in the size and gives
// the whole frame; empty if the arena was full.
[[nodiscard]] std::byte* begin_request(ChainWriter& out, int32_t correlation_id,
                                       NullableString client_id, ApiKey api, int16_t version);
[[nodiscard]] std::byte* begin_response(ChainWriter& out, int32_t correlation_id, ApiKey api,
                                        int16_t version);
[[nodiscard]] Pieces finish_frame(ChainWriter& out, std::byte* size_field);

}  // namespace weir::wire
