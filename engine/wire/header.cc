#include "engine/wire/header.h"

#include "engine/wire/decoder.h"
#include "engine/wire/limits.h"
#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::wire {

namespace {

struct RequestHeaderFields {
  int16_t request_api_key = 0;
  int16_t request_api_version = 0;
  int32_t correlation_id = 0;
  NullableString client_id = "";

  static constexpr void describe(auto& field, auto& m) {
    field("RequestApiKey", m.request_api_key);
    field("RequestApiVersion", m.request_api_version);
    field("CorrelationId", m.correlation_id);
    field("ClientId", m.client_id, {.nullable = kAllVersions});
  }
};

struct ResponseHeaderFields {
  int32_t correlation_id = 0;

  static constexpr void describe(auto& field, auto& m) { field("CorrelationId", m.correlation_id); }
};

RequestHeader::Support support_of(const ApiInfo* api, int16_t version) {
  using enum RequestHeader::Support;
  if (api == nullptr) return unknown_api_key;
  if (!api->has_version(version)) return unsupported_version;
  return api->served ? served : not_served;
}

}  // namespace

std::expected<RequestHeader, DecodeError> decode_header(Bytes frame, size_t& body_position) {
  base::Arena no_memory(0);
  // Not flexible: the client id keeps its int16 length in header v2.
  Decoder decoder(frame, 0, false, no_memory);
  RequestHeaderFields fields;
  decoder.read_struct(fields);
  const ApiInfo* const api = find_api(fields.request_api_key);
  if (api != nullptr && api->is_flexible(fields.request_api_version)) decoder.skip_tagged_fields();
  if (const auto status = decoder.status(); !status) return std::unexpected(status.error());
  body_position = decoder.position();
  return RequestHeader{.api_key = static_cast<ApiKey>(fields.request_api_key),
                       .api_version = fields.request_api_version,
                       .correlation_id = fields.correlation_id,
                       .client_id = fields.client_id,
                       .support = support_of(api, fields.request_api_version)};
}

std::expected<int32_t, DecodeError> decode_response_header(Bytes frame, ApiKey api,
                                                           int16_t version,
                                                           size_t& body_position) {
  base::Arena no_memory(0);
  Decoder decoder(frame, 0, response_header_version(api, version) > 0, no_memory);
  ResponseHeaderFields fields;
  decoder.read_struct(fields);
  if (const auto status = decoder.status(); !status) return std::unexpected(status.error());
  body_position = decoder.position();
  return fields.correlation_id;
}

std::byte* begin_request(ChainWriter& out, int32_t correlation_id, NullableString client_id,
                         ApiKey api, int16_t version) {
  std::byte* const size_field = out.put_placeholder32();
  out.put(static_cast<int16_t>(api));
  out.put(version);
  out.put(correlation_id);
  if (client_id.has_value()) {
    ASSERT(client_id->size() <= kStringSizeMax, "client id of {} bytes", client_id->size());
    out.put(static_cast<int16_t>(client_id->size()));
    out.put_bytes(base::as_bytes(*client_id));
  } else {
    out.put(int16_t{-1});
  }
  if (api_info(api).is_flexible(version)) out.put_unsigned_varint(0);
  return size_field;
}

std::byte* begin_response(ChainWriter& out, int32_t correlation_id, ApiKey api, int16_t version) {
  std::byte* const size_field = out.put_placeholder32();
  out.put(correlation_id);
  if (response_header_version(api, version) > 0) out.put_unsigned_varint(0);
  return size_field;
}

Pieces finish_frame(ChainWriter& out, std::byte* size_field) {
  const Pieces pieces = out.pieces();
  if (out.failed()) return {};
  const size_t size = out.size() - sizeof(uint32_t);
  ASSERT(size <= kFrameSizeMax, "frame of {} bytes", size);
  base::store_be(size_field, static_cast<uint32_t>(size));
  return pieces;
}

}  // namespace weir::wire
