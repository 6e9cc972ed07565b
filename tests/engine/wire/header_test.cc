// Request headers v1 and v2, response headers v0 and v1: the client id in every form in every
// flexible API (CASES C03), unknown header tags, keys and versions nobody serves (RELIABILITY F41).
#include "engine/wire/header.h"

#include <gtest/gtest.h>

#include "engine/wire/all_messages.h"
#include "engine/wire/codec.h"
#include "engine/wire/limits.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using Support = RequestHeader::Support;
using testing::Buffer;
using testing::flatten;
using testing::from_hex;
using testing::kArenaSizeMax;

// Without its size field.
template <class M>
Buffer request_frame(NullableString client_id, int16_t version, base::Arena& arena) {
  const Buffer frame = flatten(encode_request(1234, client_id, version, M{}, arena));
  EXPECT_EQ(base::load_be<uint32_t>(frame.data()), frame.size() - 4);
  return {frame.begin() + 4, frame.end()};
}

struct ClientIds {
  template <class M>
  void operator()(int16_t version) {
    base::Arena arena(kArenaSizeMax);
    const std::string longest(32'000, 'x');
    Buffer first_body;
    for (const NullableString id : {NullableString(), NullableString(""), NullableString("x"),
                                    NullableString(longest)}) {
      const Buffer frame = request_frame<M>(id, version, arena);
      size_t position = 0;
      const auto header = decode_header(frame, position);
      ASSERT_TRUE(header) << to_string(header.error());
      EXPECT_EQ(static_cast<int16_t>(header->api_key), M::kInfo.key);
      EXPECT_EQ(header->api_version, version);
      EXPECT_EQ(header->correlation_id, 1234);
      EXPECT_EQ(header->client_id, id);
      EXPECT_EQ(header->support, api_info(header->api_key).served ? Support::served
                                                                  : Support::not_served);
      const Buffer body(frame.begin() + static_cast<ptrdiff_t>(position), frame.end());
      if (first_body.empty()) first_body = body;
      EXPECT_EQ(body, first_body);
      M out;
      EXPECT_TRUE(decode(out, body, version, arena));
    }
  }
};

TEST(Header, ClientIdsOfEveryLengthInEveryVersionOfEveryApi) {
  testing::for_each_version<AllRequests>(ClientIds{});
}

TEST(Header, UnknownTagsAreSkippedInFlexibleVersionsOnly) {
  size_t position = 0;
  // Metadata v9, correlation 7, client "ab", tags 3 (two bytes) and 9 (empty), body 0xee.
  const Buffer flexible = from_hex("0003000900000007" "00026162" "02" "0302aabb" "0900" "ee");
  const auto header = decode_header(flexible, position);
  ASSERT_TRUE(header) << to_string(header.error());
  EXPECT_EQ(position, flexible.size() - 1);
  EXPECT_EQ(header->client_id, "ab");
  const Buffer classic = from_hex("0003000800000007" "00026162" "02");
  ASSERT_TRUE(decode_header(classic, position));
  EXPECT_EQ(position, classic.size() - 1);
}

TEST(Header, EveryProperPrefixIsRefused) {
  const Buffer frame = from_hex("0003000900000007" "00026162" "02" "0302aabb" "0900");
  size_t position = 0;
  ASSERT_TRUE(decode_header(frame, position));
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(decode_header(Bytes(frame).first(size), position)) << size;
  }
}

TEST(Header, BadHeadersAreErrors) {
  size_t position = 0;
  const auto reason = [&](std::string_view hex) {
    const auto header = decode_header(from_hex(hex), position);
    return header ? DecodeError::Reason::none : header.error().reason;
  };
  using enum DecodeError::Reason;
  EXPECT_EQ(reason("0003000900000007" "fffe"), negative_length);
  EXPECT_EQ(reason("0003000900000007" "0005aabb"), length_exceeds_body);
  EXPECT_EQ(reason("0003000900000007" "0001ff" "00"), bad_utf8);
  EXPECT_EQ(reason("0003000900000007" "ffff" "02" "0300" "0300"), tags_not_increasing);
  EXPECT_EQ(reason("0003000900000007" "ffff" "ffffffff0f"), length_exceeds_body);
}

TEST(Header, KeysAndVersionsNobodyServesAreTold) {
  size_t position = 0;
  const auto support = [&](std::string_view hex) {
    const Buffer frame = from_hex(hex);
    const auto header = decode_header(frame, position);
    EXPECT_TRUE(header);
    EXPECT_EQ(header->correlation_id, 7);
    EXPECT_EQ(header->client_id, "ab");
    return header->support;
  };
  EXPECT_EQ(support("7fff000000000007" "00026162"), Support::unknown_api_key);
  EXPECT_EQ(support("ffff000000000007" "00026162"), Support::unknown_api_key);
  EXPECT_EQ(support("0004000000000007" "00026162"), Support::unknown_api_key);
  EXPECT_EQ(support("0003ffff00000007" "00026162"), Support::unsupported_version);
  EXPECT_EQ(support("0003000e00000007" "00026162" "00"), Support::unsupported_version);
  EXPECT_EQ(support("0000000200000007" "00026162"), Support::unsupported_version);  // Produce 2
  EXPECT_EQ(support("0000000300000007" "00026162"), Support::served);
}

TEST(Header, ApiVersionsTooNewIsParsedForItsAnswer) {
  size_t position = 0;
  const auto header = decode_header(from_hex("0012006300000007" "00026162" "00" "ffff"), position);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->api_key, ApiKey::api_versions);
  EXPECT_EQ(header->support, Support::unsupported_version);
  EXPECT_EQ(header->correlation_id, 7);
  base::Arena arena(kArenaSizeMax);
  ApiVersionsResponse response{.error_code = 35};
  response.api_keys = make_array<ApiVersionsResponse::ApiVersion>(arena, 1);
  response.api_keys[0] = {.api_key = 18, .min_version = 0, .max_version = 4};
  const Pieces frame = encode_response(7, ApiKey::api_versions, 0, response, arena);
  EXPECT_EQ(testing::to_hex(flatten(frame)), "00000010" "00000007" "0023" "00000001"
                                             "001200000004");
}

TEST(Header, ResponseHeaderHasTagsInFlexibleVersionsButNeverForApiVersions) {
  base::Arena arena(kArenaSizeMax);
  const auto hex = [&](Pieces frame) { return testing::to_hex(flatten(frame)); };
  const HeartbeatResponse heartbeat;
  EXPECT_EQ(hex(encode_response(5, ApiKey::heartbeat, 3, heartbeat, arena)),
            "0000000a" "00000005" "00000000" "0000");
  EXPECT_EQ(hex(encode_response(5, ApiKey::heartbeat, 4, heartbeat, arena)),
            "0000000c" "00000005" "00" "00000000" "0000" "00");
  const ApiVersionsResponse versions;
  EXPECT_EQ(hex(encode_response(5, ApiKey::api_versions, 3, versions, arena)),
            "0000000c" "00000005" "0000" "01" "00000000" "00");
  for (const ApiInfo& api : kApis) {
    for (int16_t v = api.min_version; v <= api.max_version; ++v) {
      EXPECT_EQ(response_header_version(api.key, v) == 1,
                api.is_flexible(v) && api.key != ApiKey::api_versions);
    }
  }
}

TEST(Header, ResponseHeaderRoundTrip) {
  size_t position = 0;
  const Buffer tagged = from_hex("00000009" "01" "0001ff" "ee");
  EXPECT_EQ(decode_response_header(tagged, ApiKey::metadata, 9, position).value(), 9);
  EXPECT_EQ(position, tagged.size() - 1);
  EXPECT_EQ(decode_response_header(tagged, ApiKey::metadata, 8, position).value(), 9);
  EXPECT_EQ(position, 4u);
  EXPECT_FALSE(decode_response_header(from_hex("000000"), ApiKey::metadata, 8, position));
  EXPECT_FALSE(decode_response_header(from_hex("00000009"), ApiKey::metadata, 9, position));
}

TEST(ApiTable, LooksUpEveryKeyAndNoOther) {
  size_t found = 0;
  for (int key = INT16_MIN; key <= INT16_MAX; ++key) {
    const ApiInfo* const api = find_api(static_cast<int16_t>(key));
    if (api == nullptr) continue;
    EXPECT_EQ(static_cast<int>(api->key), key);
    ++found;
  }
  EXPECT_EQ(found, kApis.size());
  EXPECT_EQ(name(ApiKey::find_coordinator), "FindCoordinator");
  EXPECT_EQ(api_info(ApiKey::produce).min_advertised_version, 0);
  EXPECT_FALSE(api_info(ApiKey::produce).has_version(2));
}

}  // namespace
}  // namespace weir::wire
