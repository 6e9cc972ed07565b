// Settings of single groups: what may be set, bounds on both sides, what a restart finds, and the
// bytes of the change.
#include "engine/catalog/group_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/model/limits.h"
#include "tests/engine/catalog/catalog_support.h"

namespace weir::catalog {
namespace {

using model::ErrorCode;

const std::vector<GroupSetting> kSettings = {
    {.name = kGroupAssignmentInterval, .synonym = "a", .value = 1'000, .min = 0, .max = 15'000},
    {.name = kGroupHeartbeatInterval, .synonym = "h", .value = 5'000, .min = 5'000, .max = 48'000},
    {.name = kGroupSessionTimeout, .synonym = "s", .value = 45'000, .min = 45'000, .max = 60'000}};

ConfigOp set(std::string_view name, std::string_view value) {
  return {.kind = static_cast<int8_t>(ConfigOpKind::set), .name = name, .value = value};
}

ErrorCode alter(std::vector<ConfigOp> ops, Overrides& overrides) {
  const Overrides before = overrides;
  const Verdict verdict = alter_group_overrides(kSettings, ops, overrides);
  if (!verdict.ok()) {
    EXPECT_EQ(overrides, before) << "all or none";
    EXPECT_FALSE(verdict.message.empty());
  }
  return verdict.error;
}

TEST(GroupConfig, BoundsOnBothSides) {
  Overrides overrides;
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "45000")}, overrides), ErrorCode::none);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "44999")}, overrides), ErrorCode::invalid_config);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "60000")}, overrides), ErrorCode::none);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "60001")}, overrides), ErrorCode::invalid_config);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "x")}, overrides), ErrorCode::invalid_config);
  EXPECT_EQ(alter({set("none", "1")}, overrides), ErrorCode::invalid_config);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "50000"), set("none", "1")}, overrides),
            ErrorCode::invalid_config);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "50000"), set(kGroupSessionTimeout, "50000")},
                  overrides),
            ErrorCode::invalid_request);
  EXPECT_EQ(alter({{.kind = static_cast<int8_t>(ConfigOpKind::append),
                    .name = kGroupSessionTimeout,
                    .value = "1"}},
                  overrides),
            ErrorCode::invalid_config);
  // Beats must be more often than sessions are long.
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "45000"), set(kGroupHeartbeatInterval, "45000")},
                  overrides),
            ErrorCode::invalid_config);
  EXPECT_EQ(alter({set(kGroupSessionTimeout, "45001"), set(kGroupHeartbeatInterval, "45000")},
                  overrides),
            ErrorCode::none);
  EXPECT_EQ(group_setting(kSettings, overrides, kGroupSessionTimeout), 45'001);
  EXPECT_EQ(group_setting(kSettings, overrides, kGroupAssignmentInterval), 1'000);
  EXPECT_EQ(alter({{.kind = static_cast<int8_t>(ConfigOpKind::remove),
                    .name = kGroupHeartbeatInterval,
                    .value = {}}},
                  overrides),
            ErrorCode::none);
  EXPECT_EQ(group_setting(kSettings, overrides, kGroupHeartbeatInterval), 5'000);
  // The broker's bounds have changed since.
  EXPECT_EQ(group_setting(kSettings, {{std::string(kGroupSessionTimeout), "90000"}},
                          kGroupSessionTimeout),
            60'000);
}

TEST(GroupConfig, ToTheByteAndBack) {
  const Change change{.kind = ChangeKind::set_group_config,
                      .name = "g",
                      .overrides = {{"consumer.session.timeout.ms", "50000"}}};
  std::vector<std::byte> bytes;
  encode_change(change, bytes);
  const auto decoded = decode_changes(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ((*decoded)[0], change);
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_changes(std::span(bytes).first(size)));
  }
  bytes[1] = std::byte{1};
  EXPECT_FALSE(decode_changes(bytes)) << "flags";
}

class GroupConfigLogTest : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void TearDown() override { world.run_for(kTestSecond); }  // the last frontier may be on its way
  void start() {
    Settings settings;
    settings.group_settings = kSettings;
    node = std::make_unique<TestNode>(world, settings);
    ASSERT_TRUE(node->start());
  }
  void restart() {
    ASSERT_TRUE(node->stop());
    node.reset();
    world.crash(io::sim::CrashKind::power_cut);
    world.restart(2);
    start();
  }
  static void fill(ChangeRequest& request, std::string group_id, std::string_view session) {
    request.kind = ChangeRequest::Kind::alter_group_config;
    request.name = std::move(group_id);
    request.ops = {set(kGroupSessionTimeout, session)};
  }
  ErrorCode change(std::string group_id, std::string_view session) {
    ChangeRequest request;
    fill(request, std::move(group_id), session);
    EXPECT_TRUE(node->change(request));
    return request.error;
  }

  io::sim::SimWorld world{1, {.core_count = 2}};
  std::unique_ptr<TestNode> node;
};

TEST_F(GroupConfigLogTest, SettingsAreThereAfterARestart) {
  EXPECT_EQ(change("a", "50000"), ErrorCode::none);
  EXPECT_EQ(change("b", "51000"), ErrorCode::none);
  EXPECT_EQ(change("b", "70000"), ErrorCode::invalid_config);
  ChangeRequest removal;
  fill(removal, "a", "50000");
  removal.ops[0].kind = static_cast<int8_t>(ConfigOpKind::remove);
  EXPECT_TRUE(node->change(removal));
  for (int i = 0; i < 3; ++i, restart()) {
    for (uint16_t core = 0; core < 2; ++core) {
      const Catalog& catalog = node->catalog(core);
      EXPECT_EQ(catalog.group_configs().size(), 1u);
      EXPECT_TRUE(catalog.group_overrides("a").empty());
      EXPECT_EQ(catalog.group_overrides("b").find(kGroupSessionTimeout)->second, "51000");
    }
  }
}

TEST_F(GroupConfigLogTest, ThereIsALimitOfGroups) {
  std::vector<ChangeRequest> requests(model::kGroupConfigsMax + 1);
  for (size_t i = 0; i < requests.size(); ++i) {
    fill(requests[i], std::to_string(i), "50000");
    node->send(requests[i]);
  }
  const auto done = [&] {
    return std::ranges::none_of(requests, [](const auto& request) { return request.away(); });
  };
  EXPECT_TRUE(world.run_until(done, 100 * kTestSecond));
  EXPECT_EQ(requests[requests.size() - 2].error, ErrorCode::none);
  EXPECT_EQ(requests.back().error, ErrorCode::policy_violation);
  EXPECT_EQ(change("0", "60000"), ErrorCode::none) << "one that has some already";
}

}  // namespace
}  // namespace weir::catalog
