// Proves the rules clients bootstrap by: error 35 in version 0 for versions from the future, header
// version 0 always, Produce from 0, and the software name check.

#include <gtest/gtest.h>

#include "engine/handlers/api_table.h"
#include "engine/wire/messages/api_versions.h"
#include "tests/engine/handlers/test_broker.h"

namespace weir::handlers {
namespace {

using wire::ApiVersionsRequest;
using wire::ApiVersionsResponse;

class ApiVersionsTest : public testing::Test {
 protected:
  ApiVersionsTest() {
    broker.start();
    client = std::make_unique<TestClient>(broker);
  }
  TestBroker broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(ApiVersionsTest, ListsWhatIsServedInEveryVersion) {
  const ApiVersionsRequest request{.client_software_name = "apache-kafka-java",
                                   .client_software_version = "4.2.0"};
  for (int16_t version = 0; version <= 4; ++version) {
    const auto response = client->call<ApiVersionsResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    // Clients of version 3 and later may use transactions of the second protocol.
    EXPECT_EQ(response.finalized_features_epoch, version >= 3 ? 0 : -1);
    EXPECT_EQ(response.finalized_features.size(), version >= 3 ? 2u : 0u);
    if (version >= 3) {
      EXPECT_EQ(response.finalized_features[0].name, "group.version");
      EXPECT_EQ(response.finalized_features[0].max_version_level, 1);
      EXPECT_EQ(response.finalized_features[1].name, "transaction.version");
      EXPECT_EQ(response.finalized_features[1].max_version_level, 2);
    }
    int16_t previous = -1;
    for (const auto& api : response.api_keys) {
      EXPECT_GT(api.api_key, previous);
      previous = api.api_key;
      const auto& info = *wire::find_api(api.api_key);
      EXPECT_NE(find_row(info.key), nullptr);
      EXPECT_EQ(api.min_version, info.min_advertised_version);
      EXPECT_EQ(api.max_version, info.max_version);
    }
    EXPECT_EQ(response.api_keys[0].api_key, 0);
    EXPECT_EQ(response.api_keys[0].min_version, 0);
  }
}

TEST_F(ApiVersionsTest, AnswersUnknownVersionsInVersion0) {
  // key 18, version, correlation id 9, null client id, no tags, a body nobody knows.
  for (const int16_t version : {int16_t{5}, int16_t{100}, int16_t{32767}, int16_t{-1}}) {
    TestBuffer bytes;
    const auto put = [&](auto value) {
      std::byte field[sizeof(value)];
      base::store_be(field, value);
      bytes.insert(bytes.end(), field, field + sizeof(value));
    };
    put(int32_t{14});
    put(int16_t{18});
    put(version);
    put(int32_t{9});
    put(int16_t{-1});
    put(int32_t{0x00ff00ff});
    client->send_bytes(bytes);
    const auto response = client->expect<ApiVersionsResponse>(0, 9);
    EXPECT_EQ(response.error_code, 35);
    ASSERT_EQ(response.api_keys.size(), 1u);
    EXPECT_EQ(response.api_keys[0].api_key, 18);
    EXPECT_EQ(response.api_keys[0].max_version, 4);
  }
}

TEST_F(ApiVersionsTest, SoftwareNamesFollowThePattern) {
  const std::pair<const char*, int16_t> table[] = {
      {"librdkafka", 0}, {"a", 0},     {"a-b.c", 0}, {"A9", 0},      {"", 42},    {"-a", 42},
      {"a-", 42},        {"a b", 42},  {".", 42},    {"a/1", 42},    {"\xc3\xa9", 42}};
  for (const auto& [name, code] : table) {
    for (const int16_t version : {int16_t{3}, int16_t{4}}) {
      const auto response = client->call<ApiVersionsResponse>(
          ApiVersionsRequest{.client_software_name = name, .client_software_version = "1"},
          version);
      EXPECT_EQ(response.error_code, code) << name;
      EXPECT_EQ(response.api_keys.empty(), code != 0) << name;
    }
  }
}

}  // namespace
}  // namespace weir::handlers
