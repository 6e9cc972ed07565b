// Proves that a log start moves durably before anybody sees it and never goes back, that nothing at
// or above it is lost whatever is killed and whenever, that files below it go in their time and no
// earlier, and that readers, look-ups and producers follow it.
//
// How: PartitionWorld; DeleteRecords and retention rounds between appends, and hundreds of seeds
// that are killed or cut off power at any event.
#include "engine/partition/log_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/engine/partition/partition_world.h"
#include "tests/io/sim_support.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;


WorldOptions small_segments() {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.partition.tail_cache_bytes = 0;
  return options;
}

ErrorCode cut(PartitionWorld& world, int64_t offset, int64_t* low_watermark = nullptr) {
  Call<DeleteRecordsRequest> call;
  call.key = key_of(0);
  call.offset = model::Offset(offset);
  if (!world.ask(call, model::ports::kDeleteRecords)) return ErrorCode::unknown_server_error;
  if (low_watermark != nullptr) *low_watermark = call.low_watermark.value();
  return call.error;
}

void fill(PartitionWorld& world, int64_t from, int64_t to, size_t size = 7'000) {
  for (int64_t i = from; i < to; ++i) {
    ASSERT_EQ(world.append(log::make_batch(1, 1'000 + i, size)), i);
  }
}

struct Found {
  model::Offset offset;
  int64_t found_timestamp;
};
Found look_up(PartitionWorld& world, int64_t timestamp) {
  Call<OffsetsRequest> call;
  call.key = key_of(0);
  call.timestamp = timestamp;
  EXPECT_TRUE(world.ask(call, model::ports::kListOffsets));
  EXPECT_EQ(call.error, ErrorCode::none);
  return {call.offset, call.found_timestamp};
}

size_t count_files(PartitionWorld& world, std::string_view suffix) {
  return static_cast<size_t>(std::ranges::count_if(
      world.sim().disk().files(), [&](const auto& path) { return path.ends_with(suffix); }));
}

TEST(LogStart, delete_records_answers_as_kafka_does) {
  PartitionWorld world(1);
  ASSERT_TRUE(world.start()) << world.failure();
  int64_t low = 0;
  EXPECT_EQ(cut(world, -1, &low), ErrorCode::none) << "an empty log has nothing to delete";
  EXPECT_EQ(low, 0);
  ASSERT_EQ(world.append(log::make_batch(3)), 0);
  ASSERT_EQ(world.append(log::make_batch(2)), 3);
  EXPECT_EQ(cut(world, 6, &low), ErrorCode::offset_out_of_range);
  EXPECT_EQ(low, -1);
  EXPECT_EQ(cut(world, -2), ErrorCode::offset_out_of_range);
  EXPECT_EQ(cut(world, 0, &low), ErrorCode::none);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(cut(world, 1, &low), ErrorCode::none) << "inside a batch";
  EXPECT_EQ(low, 1);
  EXPECT_EQ(cut(world, 0, &low), ErrorCode::none) << "lower again";
  EXPECT_EQ(low, 1);
  EXPECT_EQ(cut(world, 5, &low), ErrorCode::none) << "the end";
  EXPECT_EQ(low, 5);
  EXPECT_EQ(cut(world, -1, &low), ErrorCode::none);
  EXPECT_EQ(low, 5);
  ASSERT_EQ(world.append(log::make_batch(1)), 5) << "a cut at the end takes nothing that comes";
  Read read(0, model::Offset(5), 1 << 20);
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.item.error, ErrorCode::none);
  EXPECT_EQ(read.item.log_start_offset.value(), 5);
  EXPECT_FALSE(read.bytes.empty());
}

// CASES C41.
TEST(LogStart, may_lie_in_the_middle_of_a_batch) {
  PartitionWorld world(2);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(10)), 0);
  ASSERT_EQ(cut(world, 5), ErrorCode::none);
  for (int round = 0; round < 2; ++round) {
    Read below(0, model::Offset(4), 1 << 20);
    ASSERT_TRUE(world.read(below));
    EXPECT_EQ(below.item.error, ErrorCode::offset_out_of_range);
    Read at(0, model::Offset(5), 1 << 20);
    ASSERT_TRUE(world.read(at));
    EXPECT_EQ(at.item.error, ErrorCode::none);
    EXPECT_EQ(at.item.log_start_offset.value(), 5);
    ASSERT_FALSE(at.bytes.empty());
    EXPECT_EQ(log::BatchView(at.bytes).base_offset().value(), 0) << "the whole batch";
    EXPECT_EQ(look_up(world, -2).offset.value(), 5);
    world.crash(CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.partition().log_start_offset().value(), 5) << "durable";
  }
}

TEST(LogStart, look_ups_by_time_see_nothing_below_it) {
  PartitionWorld world(3);
  ASSERT_TRUE(world.start());
  log::BatchBuilder builder(log::BatchOptions{});
  for (const int64_t timestamp : {9'000, 5'000, 6'000, 5'500}) {
    builder.append(std::nullopt, base::as_bytes(std::string_view("value")), timestamp);
  }
  ASSERT_EQ(world.append(log::to_buffer(builder.finish())), 0);
  EXPECT_EQ(look_up(world, -3).offset.value(), 0) << "the largest timestamp";
  EXPECT_EQ(look_up(world, 5'200).offset.value(), 0);
  ASSERT_EQ(cut(world, 1), ErrorCode::none);
  EXPECT_EQ(look_up(world, -3).offset.value(), 2);
  EXPECT_EQ(look_up(world, -3).found_timestamp, 6'000);
  EXPECT_EQ(look_up(world, 5'200).offset.value(), 2);
  ASSERT_EQ(cut(world, 3), ErrorCode::none);
  EXPECT_EQ(look_up(world, -3).offset.value(), 3);
  EXPECT_EQ(look_up(world, 5'600).offset.value(), -1);
  ASSERT_EQ(cut(world, 4), ErrorCode::none);
  EXPECT_EQ(look_up(world, -3).offset.value(), -1);
  EXPECT_EQ(look_up(world, 0).offset.value(), -1);
}

TEST(LogStart, leader_epochs_below_it_are_forgotten) {
  PartitionWorld world(4);
  ASSERT_TRUE(world.start());
  fill(world, 0, 3, 100);
  world.crash();
  ASSERT_TRUE(world.start());
  fill(world, 3, 6, 100);
  ASSERT_EQ(cut(world, 4), ErrorCode::none);
  for (int round = 0; round < 2; ++round) {
    const auto& epochs = world.partition().log().epochs();
    ASSERT_EQ(epochs.size(), 1u);
    EXPECT_EQ(epochs[0].epoch, 2);
    EXPECT_EQ(epochs[0].start_offset.value(), 4);
    world.crash();
    ASSERT_TRUE(world.start());
  }
}

TEST(LogStart, files_below_it_go_when_their_time_has_come) {
  WorldOptions options = small_segments();
  options.settings.file_delete_delay_ms = 60'000;
  PartitionWorld world(5, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 40);
  world.sim().run_for(kSecond_ns);
  const size_t files = count_files(world, log::kLogSuffix);
  ASSERT_GE(files, 4u);
  ASSERT_EQ(cut(world, 25), ErrorCode::none);
  const auto& segments = world.partition().log().segments();
  const auto first = segments.front()->base_offset;
  EXPECT_LE(first.value(), 25);
  EXPECT_GT(segments[1]->base_offset.value(), 25);
  world.sim().run_for(59 * kSecond_ns);
  EXPECT_EQ(count_files(world, log::kLogSuffix), files) << "not yet";
  world.sim().run_for(2 * kSecond_ns);
  EXPECT_EQ(count_files(world, log::kLogSuffix), segments.size());
  EXPECT_LE(count_files(world, log::kLedgerSuffix), segments.size());
  EXPECT_EQ(count_files(world, log::kStartSuffix), 1u);
  EXPECT_EQ(world.metrics().segments_dropped, files - segments.size());
  ErrorCode error{};
  EXPECT_FALSE(world.read_all(0, error).empty());
  EXPECT_EQ(error, ErrorCode::none);
}

TEST(LogStart, what_a_crash_leaves_below_it_goes_after_the_next_start) {
  WorldOptions options = small_segments();
  options.settings.file_delete_delay_ms = 60'000;
  PartitionWorld world(6, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 40);
  world.sim().run_for(kSecond_ns);
  ASSERT_EQ(cut(world, 40), ErrorCode::none);
  // One of the files is half gone, another one whole.
  io::Disk& disk = world.sim().core(0).disk;
  const io::FileId file =
      io::sim::open_file(world.sim(), world.segment_path(0, log::kLogSuffix).c_str());
  ASSERT_EQ(io::sim::wait(world.sim(), [&](io::Op& op) { disk.truncate(op, file, 5'000); }), 0);
  world.crash(CrashKind::process_kill);
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.partition().log_start_offset().value(), 40);
  EXPECT_EQ(world.partition().high_watermark().value(), 40);
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(count_files(world, log::kLogSuffix), world.partition().log().segments().size());
  fill(world, 40, 45);
}

// Whoever reads a segment when the start passes it reads it to the end; its files wait.
TEST(LogStart, readers_below_it_are_not_disturbed) {
  WorldOptions options = small_segments();
  options.sim.faults.disk_latency_ns = 2'000'000;
  PartitionWorld world(7, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 40);
  world.sim().run_for(kSecond_ns);
  Read read(0, model::Offset(3), 1 << 20);
  read.items = std::span(&read.item, 1);
  world.send(read, model::ports::kRead);
  Call<DeleteRecordsRequest> call;
  call.key = key_of(0);
  call.offset = model::Offset(30);
  world.send(call, model::ports::kDeleteRecords);
  ASSERT_TRUE(world.run_until([&] { return read.done && call.done; }));
  EXPECT_EQ(read.item.error, ErrorCode::none);
  EXPECT_GT(read.item.size, 0u);
  ASSERT_TRUE(world.ask(read, model::ports::kReleaseRead));
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(count_files(world, log::kLogSuffix), world.partition().log().segments().size());
}

TEST(LogStart, a_watch_below_it_comes_back) {
  PartitionWorld world(8);
  ASSERT_TRUE(world.start());
  fill(world, 0, 5, 100);
  const WatchItem early{.key = key_of(0), .fetch_offset = model::Offset(3), .size_max = 1 << 20};
  const WatchItem late{.key = key_of(0), .fetch_offset = model::Offset(5), .size_max = 1 << 20};
  Call<WatchRequest> first;
  Call<WatchRequest> second;
  first.items = std::span(&early, 1);
  second.items = std::span(&late, 1);
  first.size_min = second.size_min = 1 << 20;
  world.send(first, model::ports::kWatch);
  world.send(second, model::ports::kWatch);
  world.sim().run_for(kSecond_ns);
  ASSERT_FALSE(first.done || second.done);
  ASSERT_EQ(cut(world, 4), ErrorCode::none);
  EXPECT_TRUE(world.run_until([&] { return first.done; }));
  EXPECT_FALSE(second.done);
  CancelWatch cancel;
  ASSERT_EQ(cut(world, 5), ErrorCode::none);
  EXPECT_FALSE(second.done) << "the end is where it waits";
  fill(world, 5, 6, 2 << 20);
  EXPECT_TRUE(world.run_until([&] { return second.done; }));
}

// CASES C87: what a producer sent is known although its records are gone.
TEST(LogStart, producers_outlive_their_records) {
  WorldOptions options = small_segments();
  PartitionWorld world(9, options);
  ASSERT_TRUE(world.start());
  const auto send = [&](int32_t sequence) {
    return world.append(log::make_batch(1, 9'000 + sequence, 9'000,
                                        {.producer_id = model::ProducerId(5),
                                         .producer_epoch = model::ProducerEpoch(0),
                                         .base_sequence = model::Sequence(sequence)}));
  };
  for (int32_t i = 0; i < 30; ++i) ASSERT_EQ(send(i), i);
  ASSERT_EQ(cut(world, -1), ErrorCode::none);
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(send(29), 29) << "a retry";
  EXPECT_EQ(send(31), -45) << "a gap";
  EXPECT_EQ(send(30), 30);
  ASSERT_EQ(cut(world, -1), ErrorCode::none);
  world.crash(CrashKind::power_cut);
  ASSERT_TRUE(world.start());
  EXPECT_EQ(send(30), 30) << "a retry after a crash";
  EXPECT_EQ(send(29), 29);
  EXPECT_EQ(send(32), -45);
  EXPECT_EQ(send(31), 31);
}

// A start takes what it knows of them from a journal that is gone after it, and the next crash may
// come before a snapshot.
TEST(LogStart, producers_outlive_their_records_through_crash_after_crash) {
  bool over = false;
  for (uint64_t event = 1; !over && !testing::Test::HasFailure(); ++event) {
    SCOPED_TRACE(testing::Message() << "event " << event);
    const CrashKind kind = event % 2 == 0 ? CrashKind::process_kill : CrashKind::power_cut;
    WorldOptions options = small_segments();
    options.settings.retention.age_ms_max = 0;
    options.settings.file_delete_delay_ms = 1'000;
    options.partition.retention_check_ms = 1;
    PartitionWorld world(12, options);
    ASSERT_TRUE(world.start());
    const auto send = [&](int32_t sequence) {
      return world.append(log::make_batch(1, 9'000 + sequence, 700,
                                          {.producer_id = model::ProducerId(5),
                                           .producer_epoch = model::ProducerEpoch(0),
                                           .base_sequence = model::Sequence(sequence)}));
    };
    for (int32_t i = 0; i < 7; ++i) ASSERT_EQ(send(i), i);
    world.table().start_retention(nullptr);
    ASSERT_TRUE(world.run_until([&] {
      return world.partition().log_start_offset().value() == 7;
    }));
    world.crash(kind);
    world.sim().crash_at_event(world.sim().event_count() + event, kind);
    if (world.start()) world.sim().run_for(kSecond_ns);
    over = !world.sim().crashed();
    if (over) break;
    world.restart();
    world.sim().crash_at_event(UINT64_MAX, kind);
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.partition().log_start_offset().value(), 7);
    EXPECT_EQ(send(6), 6) << "a retry";
    EXPECT_EQ(send(8), -45) << "a gap";
    EXPECT_EQ(send(7), 7);
  }
}

TEST(LogStart, moves_on_a_full_disk) {
  WorldOptions options = small_segments();
  PartitionWorld world(10, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 100);
  world.sim().run_for(kSecond_ns);
  const uint64_t used = world.sim().disk().used_bytes();
  world.sim().disk().set_size_bytes(used);
  ASSERT_EQ(cut(world, 95), ErrorCode::none);
  world.sim().run_for(kSecond_ns);
  EXPECT_LT(world.sim().disk().used_bytes(), used) << "and gives room";
  fill(world, 100, 110);
}

TEST(LogStart, a_failing_device_is_not_believed) {
  WorldOptions options = small_segments();
  PartitionWorld world(11, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 5);
  world.sim().run_for(kSecond_ns);
  world.sim().faults().sync_error = 1;
  EXPECT_EQ(cut(world, 3), ErrorCode::kafka_storage_error);
  EXPECT_EQ(world.partition().log_start_offset().value(), 0);
  EXPECT_TRUE(world.journal().failed());
  world.sim().faults().sync_error = 0;
  EXPECT_EQ(cut(world, 4), ErrorCode::kafka_storage_error) << "nor ever again";
}

TEST(LogStart, deleting_a_topic_answers_who_waits) {
  WorldOptions options;
  options.sim.faults.disk_latency_ns = 3'000'000;
  PartitionWorld world(12, options);
  ASSERT_TRUE(world.start());
  fill(world, 0, 5);
  Call<DeleteRecordsRequest> call;
  call.key = key_of(0);
  call.offset = model::Offset(3);
  world.send(call, model::ports::kDeleteRecords);
  world.sim().run_for(20'000);
  ASSERT_FALSE(call.done);
  world.table().remove(key_of(0));
  ASSERT_TRUE(world.run_until([&] { return call.done; }));
  EXPECT_EQ(call.error, ErrorCode::unknown_topic_or_partition);
  EXPECT_TRUE(world.run_until([&] { return world.table().quiet(); }));
  EXPECT_EQ(cut(world, 3), ErrorCode::unknown_topic_or_partition);
}

// Random cuts, appends, rounds of retention; killed anywhere, in recovery too.
class StartRun {
 public:
  StartRun(uint64_t seed, const WorldOptions& options)
      : random_(seed, "start run"), world_(seed, options) {}

  void run(int incarnations) {
    for (int i = 0; i < incarnations && !testing::Test::HasFatalFailure(); ++i) {
      const bool in_recovery = i > 0 && random_.chance(0.3);
      const uint64_t events = in_recovery ? random_.between(1, 150) : random_.between(100, 3'000);
      world_.sim().crash_at_event(world_.sim().event_count() + events, kind());
      if (start()) work();
      if (!world_.sim().crashed()) world_.sim().crash(kind());
      calls_.clear();
      cuts_.clear();
      world_.restart();
    }
    if (testing::Test::HasFatalFailure()) return;
    world_.sim().crash_at_event(UINT64_MAX, CrashKind::process_kill);
    ASSERT_TRUE(start()) << world_.failure();
  }

 private:
  struct Append : Call<AppendRequest> {
    log::Buffer bytes;
  };
  CrashKind kind() { return random_.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill; }
  bool start() {
    const bool started = world_.start();
    EXPECT_EQ(world_.failure(), "");
    if (!started) return false;
    check();
    if (world_.sim().crashed()) return false;
    world_.table().start_retention(nullptr);
    return true;
  }

  void look() {
    const int64_t start = world_.partition().log_start_offset().value();
    ASSERT_GE(start, start_seen_) << "the start went back";
    start_seen_ = start;
  }

  void check() {
    ASSERT_NO_FATAL_FAILURE(look());
    ASSERT_GE(world_.partition().high_watermark().value(), end_acked_);
    ErrorCode error{};
    const auto content = world_.read_all(0, error);
    if (world_.sim().crashed()) return;
    ASSERT_EQ(error, ErrorCode::none);
    std::map<int64_t, std::span<const std::byte>> there;
    int64_t end = -1;
    for (std::span<const std::byte> left = content; !left.empty();) {
      const log::BatchView batch(left);
      ASSERT_TRUE(end < 0 || end == batch.base_offset().value()) << "a hole";
      there[batch.base_offset().value()] = left.first(batch.size());
      end = batch.next_offset().value();
      left = left.subspan(batch.size());
    }
    for (const auto& [offset, bytes] : acked_) {
      if (log::BatchView(bytes).last_offset_delta() + offset < start_seen_) continue;
      ASSERT_TRUE(there.contains(offset)) << offset << " is lost, start " << start_seen_;
      ASSERT_TRUE(std::ranges::equal(there[offset].subspan(log::batch_position::kMagic),
                                     std::span(bytes).subspan(log::batch_position::kMagic)));
    }
    // Others were read: they stay.
    for (const auto& [offset, bytes] : there)
      acked_.emplace(offset, log::Buffer(bytes.begin(), bytes.end()));
    end_acked_ = std::max(end_acked_, world_.partition().high_watermark().value());
  }

  void settle() {
    for (const auto& call : calls_) {
      if (!call->done || call->error != ErrorCode::none || call->bytes.empty()) continue;
      const int64_t end = call->base_offset.value() + log::BatchView(call->bytes).record_count();
      end_acked_ = std::max(end_acked_, end);
      acked_[call->base_offset.value()] = std::exchange(call->bytes, {});
    }
    for (const auto& call : cuts_) {
      if (!call->done || call->error != ErrorCode::none) continue;
      start_seen_ = std::max(start_seen_, call->low_watermark.value());
    }
  }

  void work() {
    for (uint64_t i = random_.between(10, 80); i > 0 && !world_.sim().crashed(); --i) {
      step();
      const bool on = world_.run_until([&] {
        return std::ranges::count_if(calls_, [](const auto& call) { return !call->done; }) < 4;
      });
      settle();
      if (!on) return;
      ASSERT_NO_FATAL_FAILURE(look());
    }
    world_.run_until([&] {
      return std::ranges::all_of(calls_, [](const auto& call) { return call->done; }) &&
             std::ranges::all_of(cuts_, [](const auto& call) { return call->done; });
    });
    settle();
    if (!world_.sim().crashed() && random_.chance(0.5)) world_.sim().run_for(kSecond_ns / 4);
  }

  void step() {
    if (random_.chance(0.15)) {
      cuts_.push_back(std::make_unique<Call<DeleteRecordsRequest>>());
      cuts_.back()->key = key_of(0);
      const int64_t end = world_.partition().high_watermark().value();
      cuts_.back()->offset =
          random_.chance(0.3)
              ? model::kNoOffset
              : model::Offset(static_cast<int64_t>(random_.below(static_cast<uint64_t>(end) + 1)));
      return world_.send(*cuts_.back(), model::ports::kDeleteRecords);
    }
    if (random_.chance(0.1)) world_.sim().run_for(static_cast<int64_t>(random_.below(20'000'000)));
    const size_t sizes[] = {20, 3'000, 9'000, 30'000, 70'000};
    calls_.push_back(std::make_unique<Append>());
    calls_.back()->bytes = log::make_batch(static_cast<int32_t>(random_.between(1, 4)),
                                           1'000 + ++time_, sizes[random_.below(5)]);
    world_.send_append(*calls_.back(), calls_.back()->bytes);
  }

  base::RandomStream random_;
  PartitionWorld world_;
  std::vector<std::unique_ptr<Append>> calls_;
  std::vector<std::unique_ptr<Call<DeleteRecordsRequest>>> cuts_;
  std::map<int64_t, log::Buffer> acked_;
  int64_t start_seen_ = 0;
  int64_t end_acked_ = 0;
  int64_t time_ = 0;
};

TEST(LogStart, survives_random_kills) {
  for (uint64_t seed = 0; seed < 250 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::RandomStream random(seed, "sizes");
    WorldOptions options;
    if (random.chance(0.8)) options.sim.faults = io::sim::Faults::draw(random);
    options.settings.segment_bytes = random.chance(0.5) ? 32_KiB : 128_KiB;
    options.partition.flush_bytes = random.between(2, 32) * 8_KiB;
    options.partition.tail_cache_bytes = random.chance(0.5) ? 0 : 16_MiB;
    options.partition.retention_check_ms = static_cast<int64_t>(random.between(1, 40));
    if (random.chance(0.5)) {
      options.settings.retention.size_bytes_max = static_cast<int64_t>(random.below(4)) * 64'000;
    }
    if (random.chance(0.3)) options.settings.retention.age_ms_max = 5;
    options.settings.file_delete_delay_ms = random.chance(0.7) ? 0 : 10;
    StartRun(seed, options).run(static_cast<int>(random.between(2, 6)));
  }
}

}  // namespace
}  // namespace weir::partition
