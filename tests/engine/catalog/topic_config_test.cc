// C111: every setting of SCOPE 18.1 with its type and default, both sides of each bound, synonyms,
// and the operations of IncrementalAlterConfigs.
#include "engine/catalog/topic_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/catalog/config_ops.h"

namespace weir::catalog {
namespace {

using model::ErrorCode;
using model::SettingType;
using testing::HasSubstr;

struct Row {
  const char* name;
  SettingType type;
  const char* default_value;
  const char* synonym;
};

constexpr const char* kMaxLong = "9223372036854775807";

const Row kTable[] = {
    {"cleanup.policy", SettingType::list, "delete", "log.cleanup.policy"},
    {"compression.gzip.level", SettingType::int32, "-1", "compression.gzip.level"},
    {"compression.lz4.level", SettingType::int32, "9", "compression.lz4.level"},
    {"compression.type", SettingType::string, "producer", "compression.type"},
    {"compression.zstd.level", SettingType::int32, "3", "compression.zstd.level"},
    {"delete.retention.ms", SettingType::int64, "86400000", "log.cleaner.delete.retention.ms"},
    {"file.delete.delay.ms", SettingType::int64, "60000", "log.segment.delete.delay.ms"},
    {"flush.messages", SettingType::int64, kMaxLong, "log.flush.interval.messages"},
    {"flush.ms", SettingType::int64, kMaxLong, "log.flush.interval.ms"},
    {"follower.replication.throttled.replicas", SettingType::list, "", ""},
    {"index.interval.bytes", SettingType::int32, "4096", "log.index.interval.bytes"},
    {"leader.replication.throttled.replicas", SettingType::list, "", ""},
    {"local.retention.bytes", SettingType::int64, "-2", "log.local.retention.bytes"},
    {"local.retention.ms", SettingType::int64, "-2", "log.local.retention.ms"},
    {"max.compaction.lag.ms", SettingType::int64, kMaxLong, "log.cleaner.max.compaction.lag.ms"},
    {"max.message.bytes", SettingType::int32, "1048588", "message.max.bytes"},
    {"message.timestamp.after.max.ms", SettingType::int64, "3600000",
     "log.message.timestamp.after.max.ms"},
    {"message.timestamp.before.max.ms", SettingType::int64, kMaxLong,
     "log.message.timestamp.before.max.ms"},
    {"message.timestamp.type", SettingType::string, "CreateTime", "log.message.timestamp.type"},
    {"min.cleanable.dirty.ratio", SettingType::float64, "0.5", "log.cleaner.min.cleanable.ratio"},
    {"min.compaction.lag.ms", SettingType::int64, "0", "log.cleaner.min.compaction.lag.ms"},
    {"min.insync.replicas", SettingType::int32, "1", "min.insync.replicas"},
    {"preallocate", SettingType::boolean, "false", "log.preallocate"},
    {"remote.log.copy.disable", SettingType::boolean, "false", ""},
    {"remote.log.delete.on.disable", SettingType::boolean, "false", ""},
    {"remote.storage.enable", SettingType::boolean, "false", ""},
    {"retention.bytes", SettingType::int64, "-1", "log.retention.bytes"},
    {"retention.ms", SettingType::int64, "604800000", "log.retention.ms"},
    {"segment.bytes", SettingType::int32, "1073741824", "log.segment.bytes"},
    {"segment.index.bytes", SettingType::int32, "10485760", "log.index.size.max.bytes"},
    {"segment.jitter.ms", SettingType::int64, "0", "log.roll.jitter.ms"},
    {"segment.ms", SettingType::int64, "604800000", "log.roll.ms"},
    {"unclean.leader.election.enable", SettingType::boolean, "false",
     "unclean.leader.election.enable"},
};

TEST(TopicConfigTest, TableIsKafkas) {
  const auto settings = topic_settings();
  ASSERT_EQ(settings.size(), std::size(kTable));
  for (size_t i = 0; i < settings.size(); ++i) {
    EXPECT_EQ(settings[i].name, kTable[i].name);
    EXPECT_EQ(settings[i].type, kTable[i].type) << kTable[i].name;
    EXPECT_EQ(settings[i].default_value, kTable[i].default_value) << kTable[i].name;
    EXPECT_EQ(settings[i].spec.synonym, kTable[i].synonym) << kTable[i].name;
    EXPECT_TRUE(settings[i].spec.doc.ends_with('.')) << kTable[i].name;
  }
  EXPECT_TRUE(std::ranges::is_sorted(settings, {}, &model::SettingInfo::name));
}

bool accepts(std::string_view name, std::string_view value) {
  TopicConfig config;
  const auto status = set_topic_setting(config, name, value);
  if (!status) {
    EXPECT_THAT(status.error().detail, HasSubstr(std::string(name)));
  }
  return status.has_value();
}

TEST(TopicConfigTest, BothSidesOfEachBound) {
  const struct {
    const char* name;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  } cases[] = {
      {"cleanup.policy",
       {"compact", "delete", "compact,delete", "delete, compact", ""},
       {"Compact", "compact;delete", "keep", "compact,,delete", "compact,"}},
      {"compression.gzip.level", {"-1", "1", "9"}, {"-2", "0", "10"}},
      {"compression.lz4.level", {"1", "17"}, {"0", "18"}},
      {"compression.zstd.level", {"-131072", "22"}, {"-131073", "23"}},
      {"compression.type",
       {"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"},
       {"none", "ZSTD", ""}},
      {"delete.retention.ms", {"0", kMaxLong}, {"-1", "9223372036854775808"}},
      {"flush.messages", {"1"}, {"0"}},
      {"local.retention.ms", {"-2"}, {"-3"}},
      {"max.compaction.lag.ms", {"1"}, {"0"}},
      {"max.message.bytes",
       {"0", "2147483647", " 7 ", "+7"},
       {"-1", "2147483648", "1e3", "7x", ""}},
      {"message.timestamp.type", {"CreateTime", "LogAppendTime"}, {"createtime", ""}},
      {"min.cleanable.dirty.ratio", {"0", "1", "0.25", "1e-3"}, {"-0.1", "1.1", "half", "nan"}},
      {"min.insync.replicas", {"1", "9"}, {"0"}},
      {"preallocate", {"true", "FALSE"}, {"yes", "1", ""}},
      {"retention.bytes", {"-1", "0", "-9223372036854775808"}, {"x"}},
      {"retention.ms", {"-1", "0"}, {"-2"}},
      {"segment.bytes", {"14", "1048575", "2147483647"}, {"13", "1", "2147483648"}},
      {"segment.index.bytes", {"4"}, {"3"}},
      {"segment.ms", {"1"}, {"0", "-1"}},
      {"message.format.version", {"3.0"}, {}},
      {"no.such.setting", {}, {"1"}},
  };
  for (const auto& row : cases) {
    for (const char* value : row.good) EXPECT_TRUE(accepts(row.name, value)) << row.name << value;
    for (const char* value : row.bad) EXPECT_FALSE(accepts(row.name, value)) << row.name << value;
  }
}

TEST(TopicConfigTest, ThrottledReplicasAreAStarOrPairs) {
  for (const char* name :
       {"follower.replication.throttled.replicas", "leader.replication.throttled.replicas"}) {
    for (const char* good : {"", "*", "0:1", "0:1,12:3", " 0:1 , 1:1 "}) {
      EXPECT_TRUE(make_topic_config({}, {{name, good}})) << good;
    }
    for (const char* bad : {"x", "0", "0:", ":1", "0:1,", "0:1,*", "0:-1", "0:1:2"}) {
      EXPECT_FALSE(make_topic_config({}, {{name, bad}})) << bad;
    }
  }
}

TEST(TopicConfigTest, RelationsBetweenSettings) {
  const TopicConfig defaults;
  EXPECT_TRUE(make_topic_config(defaults,
                                {{"min.compaction.lag.ms", "5"}, {"max.compaction.lag.ms", "5"}}));
  EXPECT_FALSE(make_topic_config(defaults,
                                 {{"min.compaction.lag.ms", "6"}, {"max.compaction.lag.ms", "5"}}));
  EXPECT_FALSE(make_topic_config(defaults, {{"remote.storage.enable", "true"}}));
  const auto tiny = make_topic_config(defaults, {{"segment.bytes", "1000"}});
  EXPECT_EQ(tiny->segment_bytes, 1000);
  EXPECT_EQ(tiny->effective_segment_bytes(), 1 << 20);
}

Verdict alter(Overrides& overrides, std::vector<ConfigOp> ops) {
  return alter_topic_overrides(TopicConfig{}, ops, overrides);
}

TEST(ConfigOpsTest, SetDeleteAppendSubtract) {
  Overrides overrides{{"retention.ms", "5"}};
  EXPECT_TRUE(alter(overrides, {{0, "segment.ms", " 7 "}, {1, "retention.ms", {}}}).ok());
  EXPECT_EQ(overrides, (Overrides{{"segment.ms", " 7 "}}));                           // verbatim
  EXPECT_TRUE(alter(overrides, {{1, "retention.ms", {}}, {1, "no.such", {}}}).ok());  // not there
  EXPECT_TRUE(alter(overrides, {{2, "cleanup.policy", "compact"}}).ok());
  EXPECT_EQ(overrides["cleanup.policy"], "delete,compact");  // the default is appended to
  EXPECT_TRUE(alter(overrides, {{2, "cleanup.policy", "compact"}}).ok());
  EXPECT_EQ(overrides["cleanup.policy"], "delete,compact");  // there already
  EXPECT_TRUE(alter(overrides, {{3, "cleanup.policy", "delete"}}).ok());
  EXPECT_EQ(overrides["cleanup.policy"], "compact");
}

TEST(ConfigOpsTest, RefusalsLeaveEverythingAsItWas) {
  Overrides overrides{{"retention.ms", "5"}};
  const Overrides before = overrides;
  const std::string long_value(32'768, 'x');
  const struct {
    std::vector<ConfigOp> ops;
    ErrorCode error;
  } cases[] = {
      {{{4, "retention.ms", "1"}}, ErrorCode::invalid_request},
      {{{-1, "retention.ms", "1"}}, ErrorCode::invalid_request},
      {{{0, "retention.ms", {}}}, ErrorCode::invalid_request},
      {{{0, "retention.ms", "1"}, {1, "retention.ms", {}}}, ErrorCode::invalid_request},
      {{{2, "retention.ms", "1"}}, ErrorCode::invalid_config},
      {{{0, "segment.ms", "9"}, {0, "retention.ms", "-2"}}, ErrorCode::invalid_config},
      {{{0, "no.such", "1"}}, ErrorCode::invalid_config},
      {{{0, "follower.replication.throttled.replicas", "x"}}, ErrorCode::invalid_config},
      {{{0, "leader.replication.throttled.replicas", long_value}}, ErrorCode::invalid_config},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(alter(overrides, row.ops).error, row.error) << row.ops[0].name;
    EXPECT_EQ(overrides, before);
  }
}

TEST(ConfigOpsTest, BrokerSettingsAreTopicDefaultsAndEveryRefusalIsInvalidRequest) {
  const TopicConfig defaults;
  Overrides overrides;
  const auto broker = [&](std::vector<ConfigOp> ops) {
    return alter_broker_overrides(defaults, ops, overrides).error;
  };
  EXPECT_EQ(broker({{0, "log.retention.ms", "9"}}), ErrorCode::none);
  EXPECT_EQ(broker({{2, "log.cleanup.policy", "compact"}}), ErrorCode::none);
  EXPECT_EQ(broker({{0, "log.retention.ms", "-2"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "num.partitions", "9"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "", "9"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{2, "log.retention.ms", "9"}}), ErrorCode::invalid_request);
  TopicConfig changed;
  apply_broker_overrides(changed, overrides);
  EXPECT_EQ(changed.retention_ms, 9);
  EXPECT_TRUE(changed.compacts() && changed.deletes());
}

TEST(ConfigOpsTest, SettingsOfCompactionAreBrokerSettingsToo) {
  const TopicConfig defaults;
  Overrides overrides;
  const auto broker = [&](std::vector<ConfigOp> ops) {
    return alter_broker_overrides(defaults, ops, overrides).error;
  };
  EXPECT_EQ(broker({{0, "log.cleaner.io.max.bytes.per.second", "1e6"},
                    {0, "log.cleaner.backoff.ms", " 7 "}}),
            ErrorCode::none);
  EXPECT_EQ(broker({{0, "log.cleaner.dedupe.buffer.size", "1048576"}}), ErrorCode::none);
  const Overrides before = overrides;
  EXPECT_EQ(broker({{0, "log.cleaner.dedupe.buffer.size", "1048575"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "log.cleaner.io.max.bytes.per.second", "0"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "log.cleaner.backoff.ms", "-1"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{2, "log.cleaner.backoff.ms", "8"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "log.cleaner.threads", "2"}}), ErrorCode::invalid_request);
  EXPECT_EQ(broker({{0, "log.cleaner.enable", "false"}}), ErrorCode::invalid_request);
  // The name of a topic's setting is none of a broker's.
  EXPECT_EQ(broker({{0, "min.cleanable.dirty.ratio", "0.1"}}), ErrorCode::invalid_request);
  EXPECT_EQ(overrides, before);
  partition::CleanerConfig config;
  apply_broker_overrides(config, overrides);
  EXPECT_EQ(config, (partition::CleanerConfig{7, 1 << 20, 1e6}));
  // Of another version, perhaps: what was there stays.
  apply_broker_overrides(config, {{"log.cleaner.backoff.ms", "soon"}, {"no.such.setting", "1"}});
  EXPECT_EQ(config.backoff_ms, 7);
}

TEST(ConfigOpsTest, NewTopicsLoseRemovedNames) {
  Overrides overrides{{"message.format.version", "2.8"}, {"retention.ms", "1"}};
  EXPECT_TRUE(check_new_overrides(TopicConfig{}, overrides).ok());
  EXPECT_EQ(overrides, (Overrides{{"retention.ms", "1"}}));
}

}  // namespace
}  // namespace weir::catalog
