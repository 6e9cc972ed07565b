// What is read from /proc, and the device probe: a real file, real writes, nothing left behind.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "bench/load/device_probe.h"
#include "bench/load/process_stats.h"

namespace weir::load {
namespace {

namespace fs = std::filesystem;

TEST(ProcessStats, TheNameOfAProcessMayHoldAnything) {
  const std::string stat =
      "42 (a ) b) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 100 1000 10";
  const auto cpu = parse_cpu_s(stat, 100);
  ASSERT_TRUE(cpu);
  EXPECT_DOUBLE_EQ(*cpu, 2.0);
  EXPECT_FALSE(parse_cpu_s("42 (x) S 1 2", 100));
  EXPECT_FALSE(parse_cpu_s("", 100));
}

TEST(ProcessStats, FieldsAreFoundByTheirWholeName) {
  const std::string io = "rchar: 5\ncancelled_write_bytes: 7\nwrite_bytes: 123\nVmRSS:\t  42 kB\n";
  EXPECT_EQ(parse_field(io, "write_bytes"), 123u);
  EXPECT_EQ(parse_field(io, "VmRSS"), 42u);
  EXPECT_EQ(parse_field(io, "nothing"), 0u);
}

TEST(ProcessStats, OfThisProcess) {
  const auto stats = process_stats(::getpid());
  ASSERT_TRUE(stats) << stats.error().detail;
  EXPECT_GT(stats->memory_bytes, 0u);
  EXPECT_GE(stats->memory_peak_bytes, stats->memory_bytes);
  EXPECT_FALSE(process_stats(-1));
}

TEST(MachineFacts, AreThere) {
  const MachineFacts facts = machine_facts();
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_GT(facts.cores, 0);
  EXPECT_GT(facts.memory_bytes, 0u);
  EXPECT_EQ(file_system_of("/no/such/path"), "unknown");
  EXPECT_NE(file_system_of("/proc"), "unknown");
}

TEST(DeviceProbe, SizesAreWholeBlocksWithinLimits) {
  EXPECT_EQ(probe_write_size(1), 4096u);
  EXPECT_EQ(probe_write_size(4096), 4096u);
  EXPECT_EQ(probe_write_size(4097), 8192u);
  EXPECT_EQ(probe_write_size(kProbeWriteSizeMax + 1), kProbeWriteSizeMax);
}

TEST(DeviceProbe, WritesAndLeavesNothing) {
  std::string name = (fs::temp_directory_path() / "weir-probe-test-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto result = probe_device(name, 16'384, 20);
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->write_size, 16'384u);
  EXPECT_GT(result->latency.count(), 0u);
  EXPECT_GT(result->mb_per_second, 0.0);
  EXPECT_TRUE(fs::is_empty(name));
  fs::remove(name);
  const auto missing = probe_device(name, 16'384, 20);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().detail.find(name), std::string::npos) << missing.error().detail;
  EXPECT_FALSE(probe_device("/tmp", 5000, 20));
}

}  // namespace
}  // namespace weir::load
