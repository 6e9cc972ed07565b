// What a start must refuse, and that the refusal says why; and how it degrades where rings are
// forbidden.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"

namespace weir::crashtest {
namespace {

constexpr int kRefusal_ms = 30'000;

TEST(Start, ASecondBrokerOnTheDirectoryIsRefused) {
  const TempDirectory directory;
  const BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  BrokerProcess first(options);
  ASSERT_TRUE(first.wait_ready()) << first.log();
  BrokerProcess second(options);
  const auto ended = second.wait_end(kRefusal_ms);
  ASSERT_TRUE(ended.has_value()) << "it neither served nor ended\n" << second.log();
  EXPECT_NE(*ended, 0);
  EXPECT_GE(second.count_in_log(options.data), 1) << second.log();
  // The first one is not disturbed.
  Load load(first.bootstrap(), 1);
  EXPECT_TRUE(load.wait_acked(10)) << load.error();
}

TEST(Start, ATakenPortIsRefused) {
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const uint16_t port = ntohs(address.sin_port);
  const TempDirectory directory;
  BrokerProcess broker({.data = directory.path() + "/data", .port = port});
  const auto ended = broker.wait_end(kRefusal_ms);
  ::close(taken);
  ASSERT_TRUE(ended.has_value()) << broker.log();
  EXPECT_EQ(*ended, 1);
  EXPECT_GE(broker.count_in_log(std::to_string(port)), 1) << broker.log();
}

TEST(Start, AForeignDirectoryIsRefusedAndLeftAlone) {
  const TempDirectory directory;
  const std::string file = directory.path() + "/thesis.txt";
  std::ofstream(file) << "not a log\n";
  BrokerProcess broker({.data = directory.path()});
  const auto ended = broker.wait_end(kRefusal_ms);
  ASSERT_TRUE(ended.has_value()) << broker.log();
  EXPECT_EQ(*ended, 1);
  EXPECT_EQ(std::filesystem::file_size(file), 10u);
  EXPECT_GE(broker.count_in_log("not a data directory"), 1) << broker.log();
}

TEST(Start, WrongUsageSaysWhatIsAllowed) {
  const TempDirectory directory;
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--no-such-option"}, {"--set", "num.partitons=3"}, {"--set", "num.partitions=x"},
           {"--cores", "0x"},    {"--io", "aio"},              {"--config", "/nonexistent.toml"}}) {
    BrokerProcess broker({.data = directory.path() + "/data", .more = more});
    EXPECT_EQ(broker.wait_end(kRefusal_ms), 2) << more.back() << "\n" << broker.log();
    EXPECT_NE(broker.log(), "") << more.back();
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/data"));
}

TEST(Start, ForbiddenRingsAreReplacedWithOneLine) {
  const TempDirectory directory;
  BrokerProcess broker({.data = directory.path() + "/data",
                        .forbid_rings = true,
                        .more = kLoadSettings});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  EXPECT_EQ(broker.count_in_log("io_uring is not usable here"), 1) << broker.log();
  Load load(broker.bootstrap(), 1);
  EXPECT_TRUE(load.wait_acked(10)) << load.error();
}

TEST(Start, ForbiddenRingsAreAnErrorWhereTheyWereAskedFor) {
  const TempDirectory directory;
  BrokerProcess broker({.data = directory.path() + "/data",
                        .forbid_rings = true,
                        .more = {"--io", "uring"}});
  EXPECT_EQ(broker.wait_end(kRefusal_ms), 1) << broker.log();
}

}  // namespace
}  // namespace weir::crashtest
