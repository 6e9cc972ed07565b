// Frames recorded between Kafka and its clients decode and re-encode to the same bytes, headers
// included: those in tests/golden/frames always, the whole recording where it is at hand. One file
// per API, named after its key; lines "vN request HEX" and "vN response HEX", frames without size.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "engine/wire/all_messages.h"
#include "engine/wire/codec.h"
#include "tests/engine/wire/shared_dir.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using testing::Buffer;
using testing::flatten;
using testing::to_hex;

std::string without_size(Pieces frame) { return to_hex(Bytes(flatten(frame)).subspan(4)); }

void compare_request(ApiKey key, int16_t version, const Buffer& frame) {
  base::Arena arena(testing::kArenaSizeMax);
  size_t position = 0;
  const auto header = decode_header(frame, position);
  ASSERT_TRUE(header) << to_string(header.error());
  EXPECT_EQ(header->api_key, key);
  EXPECT_EQ(header->api_version, version);
  AllRequests::for_key(key, [&]<class M>() {
    M m;
    const auto status = decode(m, Bytes(frame).subspan(position), version, arena);
    ASSERT_TRUE(status) << to_string(status.error());
    const auto again =
        encode_request(header->correlation_id, header->client_id, version, m, arena);
    EXPECT_EQ(without_size(again), to_hex(frame));
  });
}

void compare_response(ApiKey key, int16_t version, const Buffer& frame) {
  base::Arena arena(testing::kArenaSizeMax);
  size_t position = 0;
  const auto correlation_id = decode_response_header(frame, key, version, position);
  ASSERT_TRUE(correlation_id) << to_string(correlation_id.error());
  AllResponses::for_key(key, [&]<class M>() {
    M m;
    const auto status = decode(m, Bytes(frame).subspan(position), version, arena);
    ASSERT_TRUE(status) << to_string(status.error());
    const auto again = encode_response(*correlation_id, key, version, m, arena);
    EXPECT_EQ(without_size(again), to_hex(frame));
  });
}

struct Counts {
  size_t requests = 0;
  size_t responses = 0;
  size_t outside_table = 0;
};

void compare_file(const std::filesystem::path& path, Counts& counts) {
  const int number = std::stoi(path.filename().string());
  const ApiInfo* const api = find_api(static_cast<int16_t>(number));
  std::ifstream file(path);
  std::string version_text;
  std::string kind;
  std::string hex;
  for (size_t line = 1; file >> version_text >> kind >> hex; ++line) {
    SCOPED_TRACE(path.filename().string() + ":" + std::to_string(line));
    const auto version = static_cast<int16_t>(std::stoi(version_text.substr(1)));
    if (api == nullptr || !api->has_version(version)) {
      ++counts.outside_table;
    } else if (kind == "request") {
      compare_request(api->key, version, testing::from_hex(hex));
      ++counts.requests;
    } else {
      compare_response(api->key, version, testing::from_hex(hex));
      ++counts.responses;
    }
  }
}

Counts compare_directory(const std::filesystem::path& dir) {
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    if (entry.path().extension() == ".txt") compare_file(entry.path(), counts);
  }
  printf("compared %zu requests and %zu responses; %zu frames of APIs or versions not described\n",
         counts.requests, counts.responses, counts.outside_table);
  return counts;
}

TEST(Frames, GoldenFramesReencodeToTheSameBytes) {
  const Counts counts = compare_directory(testing::source_dir() / "tests/golden/frames");
  EXPECT_GE(counts.requests, 40u);
  EXPECT_GE(counts.responses, 40u);
  EXPECT_EQ(counts.outside_table, 0u);
}

TEST(Frames, RecordedFramesReencodeToTheSameBytes) {
  const auto dir = testing::shared_dir() / "recorded";
  if (!std::filesystem::exists(dir)) {
    GTEST_SKIP() << "NOT CHECKED: no recorded frames in " << dir << "; set WEIR_SHARED_DIR";
  }
  const Counts counts = compare_directory(dir);
  EXPECT_GE(counts.requests, 200u);
  EXPECT_GE(counts.responses, 200u);
}

}  // namespace
}  // namespace weir::wire
