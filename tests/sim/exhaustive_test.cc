// The bounded-exhaustive mode's own parts: the text of a workload leads back to it, a state that is
// named again is reached again, and states are told apart. That it finds bugs is the lane planted's
// to show.
#include "tests/sim/exhaustive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <new>

#include "io/base/logging.h"
#include "tests/sim/explorer.h"

namespace weir::simtest {
namespace {

std::string replay(const std::string& text) {
  base::set_log_level(base::LogLevel::off);
  const auto workload = workload_of(text);
  if (!workload) return "no workload";
  Exploration result;
  return Explorer(result, nullptr, false).replay(*workload);
}

TEST(Workload, TextLeadsBackToIt) {
  for (const char* text : {"none", "append", "roll,append,clean-stop", "none@5:1",
                           "append-idempotent,retry@254:0.12.0@381:0", "append@254:@300:"}) {
    const auto workload = workload_of(text);
    ASSERT_TRUE(workload) << text;
    EXPECT_EQ(to_string(*workload), text);
  }
  for (int i = 0; i <= static_cast<int>(kLastOperation); ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_EQ(operation_of(to_string(operation)), operation);
  }
}

TEST(Workload, WrongTextIsRefused) {
  for (const char* text : {"appendix", "append,nothing", "append@", "append@5", "append@x:1",
                           "append@5:x", "append@5:1x", "append@1:0@2:0@3:0"}) {
    EXPECT_FALSE(workload_of(text)) << text;
  }
}

TEST(Workload, RunsWithoutACut) {
  EXPECT_EQ(replay("roll,clean-stop,begin-transaction,commit-transaction,delete-topic"), "");
  EXPECT_THAT(replay("commit-transaction"), testing::HasSubstr("no such workload"));
}

// The first events of a start leave nothing loose.
TEST(Workload, ACutIsAtItsEventWithAsManyLooseEndsAsItSays) {
  const char* const none = "no such cut: another build, or another workload";
  EXPECT_EQ(replay("none@2:"), "");
  EXPECT_EQ(replay("none@2:@20:"), "");
  EXPECT_EQ(replay("none@2:0"), none);
  EXPECT_EQ(replay("none@2:@1:"), none) << "before the first";
  EXPECT_EQ(replay("none@1000000:"), none) << "never reached";
}

// Everything that the first start can leave: each state is started once, however many ways lead to
// it, and no state of a correct engine is a finding.
TEST(Explorer, CountsWhatItLooksAt) {
  base::set_log_level(base::LogLevel::off);
  void* shared = ::mmap(nullptr, sizeof(Exploration), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Exploration& result = *new (shared) Exploration;
  StateSet seen(16);
  Explorer(result, &seen, false).explore(std::nullopt, 1);
  EXPECT_FALSE(result.any_finding) << result.where << ": " << result.finding;
  EXPECT_EQ(result.states, seen.size());
  EXPECT_GT(result.crash_points, 100u);
  EXPECT_GT(result.states, 100u);
  EXPECT_GT(result.outcomes, result.states);
  EXPECT_EQ(result.workloads, 0u);
  ::munmap(shared, sizeof(Exploration));
}

TEST(StateSet, KnowsWhatItHasSeen) {
  StateSet seen(4);
  for (uint64_t i = 1; i <= 11; ++i) {
    EXPECT_FALSE(seen.contains(i << 20));
    EXPECT_TRUE(seen.insert(i << 20));
    EXPECT_FALSE(seen.insert(i << 20));
    EXPECT_TRUE(seen.contains(i << 20));
  }
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_DEATH(seen.insert(12 << 20), "more states than the set holds");
}

}  // namespace
}  // namespace weir::simtest
