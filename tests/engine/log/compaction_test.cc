// Compaction, rule by rule (SCOPE 19): batches in, batches out, without a file anywhere.

#include "engine/log/compaction.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "engine/log/transaction_marker.h"
#include "io/base/random.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

constexpr int64_t kTime = kNow - 50 * kHour;  // of the records

struct Item {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::string header = {};
};

struct Kept {
  int64_t offset;
  int64_t timestamp;
  Item item;
};

class CompactionTest : public testing::Test {
 protected:
  BatchOptions plain() const { return {.base_offset = model::Offset(next)}; }
  BatchOptions producer(int64_t id, int32_t sequence, bool transactional = false) const {
    return {.base_offset = model::Offset(next),
            .producer_id = model::ProducerId(id),
            .producer_epoch = model::ProducerEpoch(3),
            .base_sequence = model::Sequence(sequence),
            .transactional = transactional};
  }
  void add(const std::vector<Item>& items, const BatchOptions& options,
           Compression compression = Compression::none) {
    BatchBuilder builder(options);
    int64_t at = 0;
    for (const Item& item : items) {
      const auto view = [](const std::optional<std::string>& text) {
        return text ? std::optional(base::as_bytes(*text)) : std::nullopt;
      };
      std::vector<RecordHeader> headers;
      if (!item.header.empty()) headers.push_back({"h", base::as_bytes(item.header)});
      builder.append(view(item.key), view(item.value), kTime + next + at++, headers);
    }
    const Buffer batch = to_buffer(builder.finish());
    log.push_back(compression == Compression::none ? batch : compressed(batch, compression));
    next += static_cast<int64_t>(items.size());
  }
  void add(const std::vector<Item>& items) { add(items, plain()); }
  void end_transaction(int64_t id, bool commit, int64_t first) {
    MarkerBatch marker;
    encode_marker({.commit = commit}, model::ProducerId(id), model::ProducerEpoch(3), kTime + next,
                  marker);
    set_base_offset(marker, model::Offset(next));
    log.push_back(to_buffer(marker));
    if (!commit) {
      input.aborted.push_back({model::ProducerId(id), model::Offset(first), model::Offset(next)});
    }
    ++next;
  }

  // One pass over all there is; the log is then what it leaves.
  void pass(int64_t now_ms = kNow, bool last_stays = false) {
    input.rules = {.now_ms = now_ms, .delete_retention_ms = 24 * kHour};
    compaction.begin(input, {1, 2}, 1000, 1 << 20);
    for (const Buffer& batch : log) {
      if (!compaction.map(batch)) break;
    }
    std::vector<Buffer> left;
    for (size_t i = 0; i < log.size(); ++i) {
      const bool ends = last_stays && i + 1 == log.size();
      const auto kept = compaction.filter(log[i], ends);
      if (kept.empty()) continue;
      EXPECT_EQ(BatchView(kept).crc(), BatchView(kept).computed_crc());
      EXPECT_EQ(BatchView(kept).base_offset(), BatchView(log[i]).base_offset());
      EXPECT_EQ(BatchView(kept).last_offset(), BatchView(log[i]).last_offset());
      EXPECT_EQ(BatchView(kept).size(), kept.size());
      left.push_back(to_buffer(kept));
    }
    log = std::move(left);
    input.map_from = compaction.mapped_end();
    std::erase_if(input.aborted, [&](const AbortedRange& range) {
      return std::ranges::find(compaction.void_markers(), range.marker_offset) !=
             compaction.void_markers().end();
    });
  }

  // All records that are left, markers not.
  std::vector<Kept> records() const {
    std::vector<Kept> all;
    for (const Buffer& bytes : log) {
      const BatchView batch(bytes);
      if (batch.is_control()) continue;
      std::vector<std::byte> raw;
      std::span<const std::byte> left = batch.records();
      if (batch.compression() != Compression::none) {
        Inflater inflater;
        inflater.begin(batch.compression(), left);
        raw.resize(1 << 20);
        raw.resize(inflater.read(raw));
        left = raw;
      }
      int64_t newest = -1;
      for (int32_t i = 0; i < batch.record_count(); ++i) {
        Record record;
        EXPECT_TRUE(read_record(left, record));
        const auto text = [](const auto& field) {
          return field ? std::optional(std::string(base::as_text(*field))) : std::nullopt;
        };
        Kept kept{batch.base_offset().value() + record.offset_delta,
                  batch.base_timestamp() + record.timestamp_delta,
                  {text(record.key), text(record.value)}};
        RecordHeader header;
        if (record.header_count > 0 && read_record_header(record.headers, header)) {
          kept.item.header = *text(header.value);
        }
        newest = std::max(newest, kept.timestamp);
        all.push_back(std::move(kept));
      }
      EXPECT_TRUE(left.empty());
      if (batch.record_count() == 0) continue;
      EXPECT_EQ(batch.max_timestamp(), batch.is_append_time() ? batch.max_timestamp() : newest);
    }
    return all;
  }
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> all;
    for (const Kept& kept : records()) all.push_back(kept.offset);
    return all;
  }
  size_t markers() const {
    return static_cast<size_t>(std::ranges::count_if(
        log, [](const Buffer& batch) { return BatchView(batch).is_control(); }));
  }

  using Offsets = std::vector<int64_t>;
  CompactionInput input;
  Compaction compaction;
  std::vector<Buffer> log;
  int64_t next = 0;
};

TEST_F(CompactionTest, the_last_record_of_each_key_stays_as_it_was) {
  add({{"a", "1", "x"}, {"b", "1", "y"}, {"a", "2", "z"}});
  add({{"c", "1"}, {"b", "2", "w"}});
  const Buffer last = log[1];
  pass();
  EXPECT_EQ(offsets(), (Offsets{2, 3, 4}));
  const auto kept = records();
  EXPECT_EQ(kept[0].item.value, "2");
  EXPECT_EQ(kept[0].item.header, "z") << "not that of another record of its batch";
  EXPECT_EQ(kept[0].timestamp, kTime + 2);
  EXPECT_EQ(log[1], last) << "a batch that keeps all is not touched";
  EXPECT_EQ(compaction.counts().records_removed, 2u);
  EXPECT_EQ(compaction.counts().records_read, 5u);
}

TEST_F(CompactionTest, a_batch_without_records_goes) {
  add({{"a", "1"}});
  add({{"a", "2"}});
  pass();
  EXPECT_EQ(log.size(), 1u);
  EXPECT_EQ(offsets(), (Offsets{1}));
}

TEST_F(CompactionTest, the_end_of_a_range_stays_as_an_empty_batch) {
  add({{"a", "1"}});
  add({{std::nullopt, "2"}, {std::nullopt, "3"}});
  pass(kNow, true);
  ASSERT_EQ(log.size(), 2u);
  const BatchView empty(log[1]);
  EXPECT_EQ(empty.record_count(), 0);
  EXPECT_EQ(empty.size(), kBatchHeaderSize);
  EXPECT_EQ(empty.next_offset().value(), 3);
  pass(kNow, true);
  EXPECT_EQ(log.size(), 2u) << "again changes nothing";
  add({{"b", "1"}});
  pass(kNow, true);
  EXPECT_EQ(offsets(), (Offsets{0, 3}));
  EXPECT_EQ(log.size(), 2u) << "it ends nothing any more";
}

TEST_F(CompactionTest, records_without_a_key_go) {
  add({{"a", "1"}, {std::nullopt, "1"}, {"", "empty key"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{0, 2}));
}

TEST_F(CompactionTest, every_codec_stays_what_it_is) {
  for (const auto codec : {Compression::gzip, Compression::snappy, Compression::lz4,
                           Compression::zstd}) {
    add({{"a", "1", "first"}, {"b", std::string(5000, 'v'), "second"}, {"a", "2", "third"}},
        plain(), codec);
  }
  const int64_t last = next - 1;
  add({{"c", "1"}, {"c", "2"}}, plain(), Compression::lz4);
  pass();
  EXPECT_EQ(offsets(), (Offsets{last - 1, last, next - 1}));
  EXPECT_EQ(BatchView(log[0]).compression(), Compression::zstd);
  EXPECT_EQ(BatchView(log[1]).compression(), Compression::lz4);
  EXPECT_EQ(records()[0].item.header, "second");
}

TEST_F(CompactionTest, each_codec_survives_a_new_horizon) {
  for (const auto codec : {Compression::none, Compression::gzip, Compression::snappy,
                           Compression::lz4, Compression::zstd}) {
    const std::string key = std::to_string(next);
    add({{key, "1"}, {key + "x", std::string(100'000, 'w'), "head"}, {key, std::nullopt}}, plain(),
        codec);
  }
  const auto before = records();
  pass();
  ASSERT_EQ(log.size(), 5u);
  for (const Buffer& batch : log) {
    EXPECT_TRUE(BatchView(batch).has_delete_horizon());
    EXPECT_EQ(BatchView(batch).base_timestamp(), kNow + 24 * kHour);
  }
  const auto after = records();
  ASSERT_EQ(after.size(), 10u);
  EXPECT_EQ(after[0].timestamp, before[1].timestamp) << "times are what they were";
  EXPECT_EQ(after[0].item.header, "head");
}

TEST_F(CompactionTest, delete_markers_stay_for_their_time_from_the_first_pass_on) {
  add({{"a", "1"}});
  add({{"a", std::nullopt}, {"b", "1"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{1, 2}));
  EXPECT_EQ(BatchView(log[0]).base_timestamp(), kNow + 24 * kHour);
  pass(kNow + kHour);
  EXPECT_EQ(BatchView(log[0]).base_timestamp(), kNow + 24 * kHour) << "written once";
  pass(kNow + 24 * kHour - 1);
  EXPECT_EQ(offsets(), (Offsets{1, 2}));
  pass(kNow + 24 * kHour);
  EXPECT_EQ(offsets(), (Offsets{2}));
  EXPECT_EQ(records()[0].timestamp, kTime + 2);
}

TEST_F(CompactionTest, a_newer_record_ends_a_delete_marker_at_once) {
  add({{"a", std::nullopt}});
  add({{"a", "1"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{1}));
}

TEST_F(CompactionTest, append_times_are_kept) {
  BatchOptions options = plain();
  options.append_time = true;
  add({{"a", "1"}, {"a", std::nullopt}}, options);
  set_field(log[0], batch_position::kMaxTimestamp, kTime + 77);
  pass();
  EXPECT_EQ(BatchView(log[0]).max_timestamp(), kTime + 77);
  EXPECT_TRUE(BatchView(log[0]).is_append_time());
}

TEST_F(CompactionTest, what_is_behind_a_full_map_is_not_touched) {
  std::vector<Item> items;
  for (int i = 0; i < 5000; ++i) items.push_back({"k" + std::to_string(i), "1"});
  add(items);
  add({{"k0", "2"}, {std::nullopt, "1"}, {"k1", std::nullopt}});
  compaction.begin({}, {1, 2}, 1'000'000, 1);
  ASSERT_FALSE(compaction.map(log[0]));
  const auto keys = static_cast<int64_t>(compaction.newest().keys_max());
  EXPECT_EQ(compaction.mapped_end().value(), keys);
  EXPECT_EQ(to_buffer(compaction.filter(log[0], false)), log[0]);
  EXPECT_EQ(to_buffer(compaction.filter(log[1], false)), log[1]);
}

TEST_F(CompactionTest, clean_records_give_way_to_dirty_ones_only) {
  add({{"a", "1"}, {"b", "1"}});
  pass();
  add({{"b", "2"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{0, 2}));
}

TEST_F(CompactionTest, records_of_aborted_transactions_go_at_once) {
  add({{"a", "1"}});
  add({{"a", "2"}, {"b", "2"}}, producer(5, 0, true));
  add({{"c", "3"}}, producer(6, 0, true));
  end_transaction(5, false, 1);
  end_transaction(6, true, 3);
  pass();
  EXPECT_EQ(offsets(), (Offsets{0, 3})) << "the aborted record does not outdo the one before";
  EXPECT_EQ(markers(), 2u);
}

TEST_F(CompactionTest, a_producer_may_abort_one_and_commit_the_next) {
  add({{"a", "1"}}, producer(5, 0, true));
  end_transaction(5, false, 0);
  add({{"a", "2"}}, producer(5, 1, true));
  end_transaction(5, true, 2);
  pass();
  EXPECT_EQ(offsets(), (Offsets{2}));
}

TEST_F(CompactionTest, a_marker_outlives_its_data_by_the_retention_time) {
  add({{"a", "1"}}, producer(5, 0, true));
  end_transaction(5, true, 0);
  add({{"a", "2"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{2}));
  ASSERT_EQ(markers(), 1u);
  EXPECT_FALSE(BatchView(log[0]).has_delete_horizon()) << "its data was there in this pass";
  pass(kNow + kHour);
  ASSERT_EQ(markers(), 1u);
  EXPECT_EQ(BatchView(log[0]).base_timestamp(), kNow + 25 * kHour);
  ASSERT_TRUE(read_marker(BatchView(log[0])));
  pass(kNow + 25 * kHour - 1);
  EXPECT_EQ(markers(), 1u);
  pass(kNow + 25 * kHour);
  EXPECT_EQ(markers(), 0u);
}

TEST_F(CompactionTest, a_marker_stays_as_long_as_any_data_of_its_transaction) {
  add({{"a", "1"}, {"b", "1"}}, producer(5, 0, true));
  end_transaction(5, true, 0);
  add({{"a", "2"}});
  for (int i = 0; i < 4; ++i) pass(kNow + i * 100 * kHour);
  EXPECT_EQ(offsets(), (Offsets{1, 3}));
  EXPECT_EQ(markers(), 1u);
}

TEST_F(CompactionTest, markers_do_not_meet_keys_of_the_same_bytes) {
  const std::string commit_key("\0\0\0\1", 4);
  add({{commit_key, "user data"}}, producer(5, 0, true));
  end_transaction(5, true, 0);
  add({{"z", "1"}});
  pass();
  EXPECT_EQ(offsets(), (Offsets{0, 2}));
  EXPECT_EQ(markers(), 1u);
}

TEST_F(CompactionTest, an_aborted_transaction_is_forgotten_before_its_marker_goes) {
  add({{"a", "1"}}, producer(5, 0, true));
  end_transaction(5, false, 0);
  pass();
  EXPECT_EQ(input.aborted.size(), 1u) << "readers of the old bytes still need to know";
  pass(kNow + kHour);
  EXPECT_EQ(input.aborted.size(), 0u);
  EXPECT_EQ(markers(), 1u);
  pass(kNow + 25 * kHour);
  EXPECT_EQ(markers(), 0u);
}

TEST_F(CompactionTest, a_marker_waits_when_a_start_remembers_its_transaction_again) {
  add({{"a", "1"}}, producer(5, 0, true));
  end_transaction(5, false, 0);
  const std::vector<AbortedRange> remembered = input.aborted;
  pass();
  pass(kNow + kHour);
  ASSERT_EQ(input.aborted.size(), 0u);
  input.aborted = remembered;  // a crash came before the next snapshot
  pass(kNow + 25 * kHour);
  EXPECT_EQ(input.aborted.size(), 0u);
  EXPECT_EQ(markers(), 1u);
  pass(kNow + 26 * kHour);
  EXPECT_EQ(markers(), 0u);
}

TEST_F(CompactionTest, the_last_batch_of_a_live_producer_stays_empty) {
  add({{"a", "1"}, {"a", "2"}}, producer(5, 10));
  add({{"a", "3"}}, producer(6, 0));
  add({{"a", "4"}});
  input.producers[model::ProducerId(5)] = {model::Offset(1), model::ProducerEpoch(3)};
  pass();
  ASSERT_EQ(log.size(), 2u);
  const BatchView empty(log[0]);
  EXPECT_EQ(empty.record_count(), 0);
  EXPECT_EQ(empty.producer_id().value(), 5);
  EXPECT_EQ(empty.producer_epoch().value(), 3);
  EXPECT_EQ(empty.base_sequence().value(), 10);
  EXPECT_EQ(empty.last_sequence().value(), 11);
  pass();
  EXPECT_EQ(log.size(), 2u);
  input.producers.clear();
  pass();
  EXPECT_EQ(log.size(), 1u) << "gone with its producer";
}

TEST_F(CompactionTest, an_empty_batch_keeps_the_marker_of_its_transaction) {
  add({{"a", "1"}}, producer(5, 0, true));
  end_transaction(5, true, 0);
  add({{"a", "2"}});
  input.producers[model::ProducerId(5)] = {model::Offset(0), model::ProducerEpoch(3)};
  for (int i = 0; i < 4; ++i) pass(kNow + i * 100 * kHour);
  EXPECT_EQ(log.size(), 3u) << "without its marker it would be an open transaction";
  input.producers[model::ProducerId(5)] = {model::kNoOffset, model::ProducerEpoch(3)};
  for (int i = 4; i < 8; ++i) pass(kNow + i * 100 * kHour);
  EXPECT_EQ(markers(), 1u) << "now it is the marker that says who goes on";
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(CompactionTest, records_that_cannot_be_read_stay) {
  add({{"a", "1"}, {"a", "2"}});
  log[0][kBatchHeaderSize] = std::byte{0x7f};  // a length beyond the batch
  seal_batch(log[0]);
  const Buffer before = log[0];
  add({{"a", "3"}});
  pass();
  EXPECT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0], before);
}

// Against a model: the map that a reader ends with never changes, whatever passes run between, and
// in the end no key has two records.
TEST_F(CompactionTest, a_reader_ends_with_the_same_map) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    base::RandomStream random(seed);
    log.clear();
    input = {};
    next = 0;
    std::map<std::string, std::string> model;
    int64_t now = kNow;
    for (int step = 0; step < 60; ++step) {
      std::vector<Item> items;
      for (uint64_t i = random.between(1, 6); i > 0; --i) {
        const std::string key = "k" + std::to_string(random.below(12));
        const bool gone = random.chance(0.2);
        const std::string value = std::to_string(random.next());
        items.push_back({key, gone ? std::nullopt : std::optional(value)});
        if (gone) model.erase(key);
        else model[key] = value;
      }
      add(items, plain(), static_cast<Compression>(random.below(5)));
      if (!random.chance(0.3)) continue;
      now += static_cast<int64_t>(random.below(40)) * kHour;
      pass(now, random.chance(0.5));
      std::map<std::string, std::string> read;
      for (const Kept& kept : records()) {
        if (kept.item.value) read[*kept.item.key] = *kept.item.value;
        else read.erase(*kept.item.key);
      }
      ASSERT_EQ(read, model) << "seed " << seed << " step " << step;
    }
    pass(now);
    pass(now + 100 * kHour);
    EXPECT_EQ(records().size(), model.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::log
