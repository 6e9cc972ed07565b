// Sizes, rates and times as people write them: what is read, what is refused, how it is printed.

#include "bench/load/quantity.h"

#include <gtest/gtest.h>

namespace weir::load {
namespace {

TEST(Quantity, Sizes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("100"), 100u);
  EXPECT_EQ(parse_size("100B"), 100u);
  EXPECT_EQ(parse_size("64KiB"), 65'536u);
  EXPECT_EQ(parse_size("64K"), 65'536u);
  EXPECT_EQ(parse_size("1kB"), 1'000u);
  EXPECT_EQ(parse_size("1.5MB"), 1'500'000u);
  EXPECT_EQ(parse_size("1MiB"), 1'048'576u);
  EXPECT_EQ(parse_size("2GiB"), 2'147'483'648u);
  for (const char* text :
       {"", "B", "-1", "1e3", "1 KiB", "1XB", "1KiBs", "x", "nan", "2000000GB"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(Quantity, Rates) {
  EXPECT_EQ(parse_rate("50MB")->bytes_per_second, 50e6);
  EXPECT_EQ(parse_rate("50MB/s")->bytes_per_second, 50e6);
  EXPECT_EQ(parse_rate("1MiB")->bytes_per_second, 1'048'576);
  EXPECT_EQ(parse_rate("20000")->records_per_second, 20'000);
  EXPECT_EQ(parse_rate("20k/s")->records_per_second, 20'000);
  EXPECT_EQ(parse_rate("0.5M")->records_per_second, 500'000);
  for (const char* text : {"", "0", "-5", "MB", "5 MB", "5G", "max", "5kk"}) {
    EXPECT_FALSE(parse_rate(text)) << text;
  }
}

TEST(Quantity, Times) {
  EXPECT_EQ(parse_milliseconds("10"), 10'000);
  EXPECT_EQ(parse_milliseconds("10s"), 10'000);
  EXPECT_EQ(parse_milliseconds("1.5s"), 1'500);
  EXPECT_EQ(parse_milliseconds("500ms"), 500);
  EXPECT_EQ(parse_milliseconds("2m"), 120'000);
  EXPECT_EQ(parse_milliseconds("1h"), 3'600'000);
  for (const char* text : {"", "s", "-1s", "1d", "10 s"}) {
    EXPECT_EQ(parse_milliseconds(text), std::nullopt) << text;
  }
}

TEST(Quantity, ThreeDigitsArePrinted) {
  EXPECT_EQ(print_latency(999), "999 ns");
  EXPECT_EQ(print_latency(1'234), "1.23 µs");
  EXPECT_EQ(print_latency(85'340), "85.3 µs");
  EXPECT_EQ(print_latency(999'600), "1.00 ms");
  EXPECT_EQ(print_latency(123'456'789), "123 ms");
  EXPECT_EQ(print_latency(12'000'000'000), "12.0 s");
  EXPECT_EQ(print_bytes(0), "0 B");
  EXPECT_EQ(print_bytes(12'340'000), "12.3 MB");
  EXPECT_EQ(print_bytes(1.2e9), "1.20 GB");
  EXPECT_EQ(print_count(0), "0");
  EXPECT_EQ(print_count(999), "999");
  EXPECT_EQ(print_count(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace weir::load
