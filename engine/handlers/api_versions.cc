#include "engine/handlers/api_versions.h"

#include <array>
#include <string_view>

#include "engine/handlers/api_table.h"
#include "engine/handlers/features.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/api_versions.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::ApiVersionsResponse;

namespace {

constexpr int16_t kFirstVersionWithSoftwareName = 3;

Response::ApiVersion row_of(const wire::ApiInfo& api) {
  return {.api_key = static_cast<int16_t>(api.key),
          .min_version = api.min_advertised_version,
          .max_version = api.max_version};
}

constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?
bool is_software_name(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  for (const char c : text) {
    if (!is_alphanumeric(c) && c != '-' && c != '.') return false;
  }
  return true;
}

void respond_error(Request& request, Response& out, ErrorCode error, int16_t version) {
  out.error_code = static_cast<int16_t>(error);
  request.respond_in_version(out, version);
}

}  // namespace

void start_api_versions(Request& request) {
  Response out;
  if (!wire::api_info(wire::ApiKey::api_versions).has_version(request.api_version())) {
    // The body has a form we do not know. Version 0 is what every client can read; from the one row
    // in it the client learns which version to try next.
    Response::ApiVersion row = row_of(wire::api_info(wire::ApiKey::api_versions));
    out.api_keys = {&row, 1};
    return respond_error(request, out, ErrorCode::unsupported_version, 0);
  }
  wire::ApiVersionsRequest in;
  if (!request.decode(in)) return;
  if (request.api_version() >= kFirstVersionWithSoftwareName &&
      (!is_software_name(in.client_software_name) ||
       !is_software_name(in.client_software_version))) {
    return respond_error(request, out, ErrorCode::invalid_request, request.api_version());
  }
  out.api_keys = wire::make_array<Response::ApiVersion>(request.arena(), wire::kApis.size());
  if (out.api_keys.is_null()) return request.close_connection("request too large for its memory");
  size_t count = 0;
  for (const wire::ApiInfo& api : wire::kApis) {
    if (find_row(api.key) != nullptr) out.api_keys[count++] = row_of(api);
  }
  out.api_keys = {out.api_keys.data(), count};
  // Features never change while the node runs.
  std::array<Response::SupportedFeature, kFeatures.size()> supported;
  std::array<Response::FinalizedFeature, kFeatures.size()> finalized;
  for (size_t i = 0; i < kFeatures.size(); ++i) {
    supported[i] = {kFeatures[i].name, 0, kFeatures[i].level};
    finalized[i] = {kFeatures[i].name, kFeatures[i].level, kFeatures[i].level};
  }
  out.supported_features = {supported.data(), supported.size()};
  out.finalized_features = {finalized.data(), finalized.size()};
  out.finalized_features_epoch = 0;
  request.respond(out);
}

}  // namespace weir::handlers
