// Error codes have Kafka's numbers and names; whether a client retries is as in the table of
// SCOPE.md, which is compared line by line where it is at hand.
#include "engine/model/error_code.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace weir::model {
namespace {

TEST(ErrorCode, KnownNumbers) {
  EXPECT_EQ(static_cast<int>(ErrorCode::none), 0);
  EXPECT_EQ(static_cast<int>(ErrorCode::unknown_server_error), -1);
  EXPECT_EQ(static_cast<int>(ErrorCode::not_leader_or_follower), 6);
  EXPECT_EQ(static_cast<int>(ErrorCode::unsupported_version), 35);
  EXPECT_EQ(static_cast<int>(ErrorCode::member_id_required), 79);
  EXPECT_EQ(static_cast<int>(ErrorCode::unknown_topic_id), 100);
  EXPECT_EQ(static_cast<int>(ErrorCode::share_session_limit_reached), 133);
}

TEST(ErrorCode, NamesAreKafkasAndDistinct) {
  EXPECT_EQ(name(ErrorCode::none), "NONE");
  EXPECT_EQ(name(ErrorCode::not_leader_or_follower), "NOT_LEADER_OR_FOLLOWER");
  std::set<std::string_view> names;
  for (int code = -1; code <= 133; ++code) {
    names.insert(name(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), 135u);
  EXPECT_FALSE(names.contains("UNKNOWN"));
  EXPECT_EQ(name(static_cast<ErrorCode>(134)), "UNKNOWN");
  EXPECT_EQ(name(static_cast<ErrorCode>(-2)), "UNKNOWN");
}

TEST(ErrorCode, Retriable) {
  EXPECT_TRUE(is_retriable(ErrorCode::not_leader_or_follower));
  EXPECT_TRUE(is_retriable(ErrorCode::coordinator_load_in_progress));
  EXPECT_TRUE(is_retriable(ErrorCode::kafka_storage_error));
  EXPECT_FALSE(is_retriable(ErrorCode::none));
  EXPECT_FALSE(is_retriable(ErrorCode::unknown_server_error));
  EXPECT_FALSE(is_retriable(ErrorCode::rebalance_in_progress));
  EXPECT_FALSE(is_retriable(static_cast<ErrorCode>(500)));
}

TEST(ErrorCode, AgreesWithTheReferenceTable) {
  const char* const shared = std::getenv("WEIR_SHARED_DIR");
#ifdef WEIR_SOURCE_DIR
  std::string path = WEIR_SOURCE_DIR "/../shared/kafka-protocol/SCOPE.md";
#else
  std::string path = "../shared/kafka-protocol/SCOPE.md";
#endif
  if (shared != nullptr) path = std::string(shared) + "/SCOPE.md";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "NOT CHECKED: no " << path << "; set WEIR_SHARED_DIR";
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string bar;
    std::string retriable;
    std::string kafka_name;
    int number = 0;
    cells >> bar >> number >> bar >> kafka_name >> bar >> retriable;
    const bool is_row = cells && line.starts_with("| ") &&
                        (retriable == "yes" || retriable == "no" || retriable == "–") &&
                        kafka_name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0") ==
                            std::string::npos;
    if (!is_row) continue;
    const auto code = static_cast<ErrorCode>(number);
    EXPECT_EQ(name(code), kafka_name);
    EXPECT_EQ(is_retriable(code), retriable == "yes") << kafka_name;
    ++rows;
  }
  EXPECT_EQ(rows, 135);
}

}  // namespace
}  // namespace weir::model
