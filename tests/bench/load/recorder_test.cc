// What counts: throughput by when it happened, latency by when it was meant to start; the live
// view; results of several workers merged.

#include "bench/load/recorder.h"

#include <gtest/gtest.h>

namespace weir::load {
namespace {

TEST(Recorder, ThroughputGoesByArrivalAndLatencyByTheIntendedStart) {
  const Window window{.from_ns = 1000, .to_ns = 2000};
  Recorder recorder(window, false);
  recorder.acked(900, 1000, 10, 100);   // started in the warm-up, answered in the measured part
  recorder.acked(1000, 1999, 10, 100);  // wholly in it
  recorder.acked(1999, 5000, 10, 100);  // answered in the drain: its latency is not left out
  recorder.acked(2000, 2100, 10, 100);
  const Results& results = recorder.results();
  EXPECT_EQ(results.acked.records, 20u);
  EXPECT_EQ(results.acked.bytes, 200u);
  EXPECT_EQ(results.acked.batches, 2u);
  EXPECT_EQ(results.acked_total.bytes, 400u);
  EXPECT_EQ(results.ack.count(), 2u);
  EXPECT_EQ(results.ack.max(), 3001u);
}

TEST(Recorder, TheLiveViewIsTakenOnce) {
  const Window window{.from_ns = 0, .to_ns = 100};
  Recorder recorder(window, false);
  recorder.acked(0, 5000, 3, 30);
  recorder.failed(6, 2);
  EXPECT_EQ(recorder.take_live().acked_records, 0u) << "nothing before it is published";
  recorder.publish();
  const Live live = recorder.take_live();
  EXPECT_EQ(live.acked_records, 3u);
  EXPECT_EQ(live.errors, 2u);
  EXPECT_EQ(live.latency_us.max(), 5u);
  EXPECT_EQ(recorder.take_live().acked_bytes, 0u);
}

TEST(AckedEnds, OnlyRise) {
  AckedEnds ends(2);
  EXPECT_EQ(ends.get(1), 0);
  ends.raise(1, 10);
  ends.raise(1, 5);
  EXPECT_EQ(ends.get(1), 10);
  EXPECT_EQ(ends.get(0), 0);
}

TEST(Results, Merge) {
  Results a;
  Results b;
  a.acked.add(1, 10);
  b.acked.add(2, 20);
  a.errors[3] = 1;
  b.errors[3] = 2;
  b.errors[6] = 1;
  b.failure = "lost";
  b.verification.problem(b.verification.gaps, "a gap");
  a.merge(b);
  EXPECT_EQ(a.acked.records, 3u);
  EXPECT_EQ(a.acked.bytes, 30u);
  EXPECT_EQ(a.errors.at(3), 3u);
  EXPECT_EQ(a.errors.at(6), 1u);
  EXPECT_EQ(a.failure, "lost");
  EXPECT_EQ(a.verification.gaps, 1u);
  EXPECT_EQ(a.verification.first_problem, "a gap");
}

}  // namespace
}  // namespace weir::load
