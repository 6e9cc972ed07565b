// `weir bench` against the real program: the figures of its JSON line agree with one another and
// with the histogram it carries, what was read is verified, nothing is left behind, and what cannot
// be is said.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "bench/load/histogram.h"
#include "tests/crash/broker_process.h"

namespace weir::crashtest {
namespace {

using Json = nlohmann::json;

struct Ran {
  int exit_code = -1;
  std::string out;  // with standard error
};

class Bench : public testing::Test {
 protected:
  Bench() { ::setenv("TMPDIR", directory_.path().c_str(), 1); }
  ~Bench() override { ::unsetenv("TMPDIR"); }

  static std::string program() {
    const char* const path = std::getenv("WEIR_PROGRAM");
    return path == nullptr ? "" : path;
  }
  static Ran shell(const std::string& command) {
    Ran ran;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return ran;
    char bytes[4096];
    while (const size_t count = std::fread(bytes, 1, sizeof bytes, pipe)) {
      ran.out.append(bytes, count);
    }
    const int status = ::pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return ran;
  }
  static Ran bench(const std::string& arguments) {
    return shell(fmt::format("{} bench -d 400ms --warmup 100ms {}", program(), arguments));
  }
  // One JSON document a line.
  static std::vector<Json> lines(const Ran& ran) {
    std::vector<Json> all;
    std::istringstream text(ran.out);
    for (std::string line; std::getline(text, line);) {
      all.push_back(Json::parse(line, nullptr, false));
      EXPECT_FALSE(all.back().is_discarded()) << line;
    }
    return all;
  }
  [[nodiscard]] bool left_nothing() const {
    return std::filesystem::is_empty(directory_.path());
  }

  TempDirectory directory_;
};

TEST_F(Bench, FiguresAgreeAndReadsAreVerified) {
  const Ran ran = bench("--json --rate 3000 --records-per-batch 5 --record-size 200 --producers 3 "
                        "--readers 2 --reader-connections 2 -p 4 --threads 2");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 1u);
  const Json& line = all[0];
  EXPECT_EQ(line.at("schema"), 1);
  EXPECT_EQ(line.at("sound"), true);
  EXPECT_EQ(line.at("parameters").at("loop"), "open");
  EXPECT_EQ(line.at("broker").at("spawned"), true);
  EXPECT_GE(line.at("broker").at("cpu_s"), 0);
  EXPECT_EQ(line.at("device").size(), 2u);
  const Json& results = line.at("results");
  EXPECT_DOUBLE_EQ(results.at("seconds"), 0.4);
  // 600 starts a second for 0.4 s, each one answered and in the histogram.
  const uint64_t intended = results.at("intended_batches");
  EXPECT_NEAR(static_cast<double>(intended), 240, 2);
  EXPECT_EQ(results.at("unanswered"), 0);
  EXPECT_TRUE(results.at("errors").empty());
  EXPECT_EQ(results.at("ack").at("count"), intended);
  const auto histogram =
      load::Histogram::from_text(results.at("ack").at("histogram").get<std::string>());
  ASSERT_TRUE(histogram) << histogram.error().detail;
  EXPECT_EQ(histogram->count(), intended);
  EXPECT_EQ(histogram->max(), results.at("ack").at("max_ns").get<uint64_t>());
  EXPECT_EQ(histogram->percentile(0.99), results.at("ack").at("p99_ns").get<uint64_t>());
  EXPECT_LE(results.at("ack").at("p50_ns"), results.at("ack").at("p99.99_ns"));
  // Both readers read every record that was meant to start in the measured part.
  EXPECT_EQ(results.at("end_to_end").at("count"), intended * 5 * 2);
  EXPECT_GE(results.at("verified").at("stamps").get<uint64_t>(), intended * 2);
  EXPECT_EQ(results.at("verified").at("not_read"), 0);
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, AClosedLoopIsLabelledAndHasATable) {
  const Ran ran = bench("W6 --only '1 × 100' --no-probe");
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_NE(ran.out.find("closed"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("P99.99"), std::string::npos) << ran.out;
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, CodecsAndKeysAreReadBackToo) {
  for (const char* codec : {"lz4", "zstd", "snappy", "gzip"}) {
    const Ran ran = bench(fmt::format("--json --no-probe --rate 500 --record-size 300 --codec {} "
                                      "--batch-size 4KiB --keys zipf --key-count 100 --readers 1 "
                                      "-p 2", codec));
    ASSERT_EQ(ran.exit_code, 0) << ran.out;
    const auto all = lines(ran);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_GT(all[0].at("results").at("verified").at("batches"), 0) << codec;
    EXPECT_EQ(all[0].at("results").at("end_to_end").at("resolution_ns"), 1'000'000);
  }
}

TEST_F(Bench, ReadingOnlyReadsATopicThatIsThere) {
  const Ran ran = shell(fmt::format(
      "{0} run -- sh -c '"
      "{0} topic create there -p 2 >> {1}/log && "
      "{0} bench -b $WEIR_BOOTSTRAP --topic there -d 200ms --warmup 100ms --acks 1 >> {1}/log && "
      "{0} bench -b $WEIR_BOOTSTRAP --topic there -d 200ms --warmup 0 --producers 0 --readers 1 "
      "--read-again --json'",
      program(), directory_.path()));
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].at("results").at("read").at("records"), 0);
  EXPECT_EQ(all[0].at("sound"), true);
}

TEST_F(Bench, LibrdkafkaAgreesAndItsGroupsReadAll) {
  const Ran ran = bench("--json --no-probe --client librdkafka --rate 2000 --producers 2 "
                        "--record-size 100 --readers 2 --reader-connections 2 -p 4");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 1u);
  const Json& results = all[0].at("results");
  const uint64_t intended = results.at("intended_batches");
  EXPECT_NEAR(static_cast<double>(intended), 800, 2);
  EXPECT_EQ(results.at("ack").at("count"), intended);
  EXPECT_EQ(results.at("end_to_end").at("count"), 2 * intended);
  EXPECT_EQ(results.at("verified").at("not_read"), 0);
  EXPECT_GE(results.at("verified").at("stamps").get<uint64_t>(), 2 * intended);
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, ABacklogIsReadWhileProducing) {
  const Ran ran = bench("W5 --json --no-probe --rate 2MB --backlog 3MB -p 3");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].at("results").contains("catch_up"));
  const Json& catch_up = all[1].at("results").at("catch_up");
  EXPECT_GE(catch_up.at("bytes").get<uint64_t>(), 3'000'000u);
  EXPECT_GT(catch_up.at("seconds"), 0);
}

TEST_F(Bench, AKilledBrokerHasAllThatItAcknowledged) {
  const Ran ran = bench("W10 --json --rate 5MB --backlog 2MB -p 3 --only '1 partition,'");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 2u);
  for (const Json& line : all) {
    EXPECT_GE(line.at("stored_bytes").get<uint64_t>(), 2'000'000u);
    EXPECT_EQ(line.at("acked_lost"), 0);
    EXPECT_GT(line.at("verified_batches"), 0);
    EXPECT_LE(line.at("ready_ms"), line.at("first_ack_ms"));
    EXPECT_EQ(line.at("sound"), true) << line;
  }
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, AFootprintHasFiftyStarts) {
  const Ran ran = bench("W11 --json");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto all = lines(ran);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("starts"), 50);
  EXPECT_GT(all[0].at("memory_bytes"), 0);
  EXPECT_GT(all[1].at("memory_bytes"), 0);
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, FreshTopicsAreRemoved) {
  const Ran ran = shell(fmt::format(
      "{0} run -- sh -c '{0} bench -b $WEIR_BOOTSTRAP -d 100ms --warmup 0 >&2; {0} topic list'",
      program()));
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_NE(ran.out.find("no topics"), std::string::npos) << ran.out;
}

TEST_F(Bench, WhatCannotBeIsNamed) {
  const auto refused = [](const char* arguments, int exit_code, const char* what) {
    const Ran ran = bench(arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << arguments << ran.out;
    EXPECT_NE(ran.out.find(what), std::string::npos) << arguments << ran.out;
  };
  refused("W99", 2, "W99");
  refused("W6 --only nothing", 2, "--only");
  refused("--rate fast", 2, "--rate");
  refused("--record-size big", 2, "--record-size");
  refused("--producers -1", 2, "--producers");
  refused("--producers 20001", 2, "--producers");
  refused("--window 0", 2, "--window");
  refused("--threads 65", 2, "--threads");
  refused("--producers 0", 2, "nothing to do");
  refused("--codec rar", 2, "--codec");
  refused("--keys zipf:x", 2, "zipf");
  refused("W10 -b 127.0.0.1:1", 2, "--bootstrap");
  refused("W11 --data /tmp/x", 2, "--data");
  refused("--client java", 2, "--client");
  refused("--client-config a=b", 2, "--client-config");
  refused("--no-probe --client librdkafka --client-config no.such=1", 1, "no.such");
  refused("--random-share 2", 2, "random share");
  refused("--bootstrap 127.0.0.1:1", 1, "127.0.0.1:1");
  EXPECT_TRUE(left_nothing());
}

TEST_F(Bench, TheListNamesEveryScenario) {
  const Ran ran = shell(program() + " bench --list");
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* name :
       {"W1 ", "W2 ", "W3 ", "W4 ", "W5 ", "W6 ", "W7 ", "W8 ", "W9 ", "W10 ",
        "W11 ", "W12 ", "S1 "}) {
    const std::string line = std::string("\n") + name;
    EXPECT_NE(("\n" + ran.out).find(line), std::string::npos) << name << ran.out;
  }
}

}  // namespace
}  // namespace weir::crashtest
