// F53, C109, C111: settings by name; every fault is refused with the name and what is allowed;
// addresses.
#include "engine/broker/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weir::broker {
namespace {

using testing::HasSubstr;

std::string fault(std::vector<std::pair<std::string_view, std::string_view>> settings) {
  Config config;
  for (const auto& [name, value] : settings) {
    if (const auto status = config.set(name, value); !status) return status.error().detail;
  }
  const auto status = config.finish();
  return status ? "" : status.error().detail;
}

TEST(ConfigTest, DefaultsAreComplete) {
  Config config;
  ASSERT_TRUE(config.finish());
  const auto addresses = config.listen_addresses();
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[0].host, "127.0.0.1");
  EXPECT_EQ(addresses[1].host, "::1");
  EXPECT_EQ(addresses[1].port, 9092);
  EXPECT_TRUE(config.advertised_address().host.empty());
  EXPECT_EQ(config.http_address().port, 9644);
}

TEST(ConfigTest, NamesAreUniqueSortedAndHardlyOneIsATableOfAnother) {
  const auto infos = Config().list();
  for (size_t i = 1; i < infos.size(); ++i) {
    EXPECT_LT(infos[i - 1].name, infos[i].name);
    EXPECT_FALSE(infos[i].spec.doc.empty()) << infos[i].name;
    // "a.b" and "a.b.c" cannot both be plain keys of one TOML file. Kafka's own names do that once;
    // there the longer one must be in quotes.
    if (infos[i].name == "max.connections") continue;
    for (const auto& other : infos) {
      EXPECT_FALSE(other.name.starts_with(std::string(infos[i].name) + "."))
          << infos[i].name << " " << other.name;
    }
  }
}

TEST(ConfigTest, EveryDefaultIsAcceptedAsAValue) {
  for (const auto& info : Config().list()) {
    Config config;
    if (!info.value || !config.set(info.name, *info.value)) continue;  // fixed ones are refused
    for (const auto& now : config.list()) {
      if (now.name == info.name) {
        EXPECT_EQ(now.value, info.value) << info.name;
      }
    }
  }
}

TEST(ConfigTest, FaultsNameTheSetting) {
  EXPECT_THAT(fault({{"num.partitons", "1"}}), HasSubstr("did you mean num.partitions"));
  EXPECT_THAT(fault({{"complete.nonsense.of.a.name", "1"}}), HasSubstr("Unknown setting"));
  EXPECT_THAT(fault({{"", "1"}}), HasSubstr("Unknown"));
  EXPECT_THAT(fault({{"num.partitions", "0"}}), HasSubstr("1 ... 10000"));
  EXPECT_THAT(fault({{"num.partitions", "10001"}}), HasSubstr("num.partitions"));
  EXPECT_THAT(fault({{"num.partitions", "1"}, {"num.partitions", "1"}}), HasSubstr("twice"));
  EXPECT_THAT(fault({{"node.id", "1"}, {"broker.id", "1"}}), HasSubstr("twice"));
  EXPECT_THAT(fault({{"inter.broker.protocol.version", "3.0"}}), HasSubstr("cannot be changed"));
  EXPECT_THAT(fault({{"default.replication.factor", "3"}}), HasSubstr("1 ... 1"));
  EXPECT_THAT(fault({{"log.dirs", "/a,/b"}}), HasSubstr("one directory"));
  EXPECT_THAT(fault({{"io.backend", "epoll"}}), HasSubstr("auto, uring, posix"));
  EXPECT_THAT(fault({{"group.min.session.timeout.ms", "2000000"}}), HasSubstr("not be greater"));
  EXPECT_THAT(fault({{"log.cleaner.min.compaction.lag.ms", "9"},
                     {"log.cleaner.max.compaction.lag.ms", "8"}}),
              HasSubstr("lag"));
  EXPECT_EQ(fault({{"broker.id", "7"}, {"log.dir", "/tmp/x"}, {"log.retention.ms", "-1"}}), "");
}

TEST(ConfigTest, SmallestUnitOfTimeWins) {
  const auto retention = [](std::vector<std::pair<std::string_view, std::string_view>> settings) {
    Config config;
    for (const auto& [name, value] : settings) EXPECT_TRUE(config.set(name, value));
    EXPECT_TRUE(config.finish());
    return config.catalog.topic_defaults.retention_ms;
  };
  EXPECT_EQ(retention({}), 604'800'000);
  EXPECT_EQ(retention({{"log.retention.hours", "1"}}), 3'600'000);
  EXPECT_EQ(retention({{"log.retention.hours", "1"}, {"log.retention.minutes", "1"}}), 60'000);
  EXPECT_EQ(retention({{"log.retention.minutes", "1"}, {"log.retention.ms", "7"}}), 7);
  EXPECT_EQ(retention({{"log.retention.hours", "-1"}}), -1);
  Config config;
  EXPECT_TRUE(config.set("log.roll.hours", "2") && config.set("log.roll.jitter.hours", "1"));
  EXPECT_TRUE(config.finish());
  EXPECT_EQ(config.catalog.topic_defaults.segment_ms, 7'200'000);
  EXPECT_EQ(config.catalog.topic_defaults.segment_jitter_ms, 3'600'000);
}

TEST(ConfigTest, OpenListenersAndWildcardsAreRefused) {
  EXPECT_THAT(fault({{"listeners", "0.0.0.0:9092"}}), HasSubstr("insecure.open.listener"));
  EXPECT_THAT(fault({{"listeners", "PLAINTEXT://:9092"}}), HasSubstr("insecure.open.listener"));
  EXPECT_EQ(fault({{"listeners", "0.0.0.0:9092"}, {"insecure.open.listener", "true"}}), "");
  EXPECT_EQ(fault({{"listeners", "localhost:0,[::1]:0"}}), "");
  EXPECT_THAT(fault({{"advertised.listeners", "0.0.0.0:9092"}}), HasSubstr("can connect to"));
  EXPECT_THAT(fault({{"advertised.listeners", "[::]:9092"}}), HasSubstr("can connect to"));
  EXPECT_THAT(fault({{"advertised.listeners", "host:0"}}), HasSubstr("can connect to"));
  EXPECT_EQ(fault({{"advertised.listeners", "PLAINTEXT://host:9092"}}), "");
  EXPECT_EQ(fault({{"http.listener", ""}}), "");
}

TEST(ConfigTest, Addresses) {
  for (const char* good : {"h:1", "[::1]:65535", "PLAINTEXT://10.0.0.1:9092", " h:0 ", ":9092"}) {
    EXPECT_TRUE(parse_address(good)) << good;
  }
  for (const char* bad : {"", "h", "h:", "h:65536", "h:-1", "::1:9092", "SSL://h:9093", "h:1:2",
                          "h/x:1", "h :1", "PLAINTEXT://", "h:9x"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
  EXPECT_EQ(parse_address("[::1]:9")->host, "::1");
  EXPECT_FALSE(parse_addresses("h:1,"));
}

}  // namespace
}  // namespace weir::broker
