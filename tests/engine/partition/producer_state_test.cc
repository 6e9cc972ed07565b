// Proves the table of SCOPE 7: duplicates of the five newest batches, gaps, the wrap behind 2^31 -
// 1, new and old epochs, producers nobody knows; and that a snapshot gives everything back or, when
// any byte of it is damaged, nothing. And where transactions begin and end.
#include "engine/partition/producer_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "engine/log/transaction_marker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

constexpr int32_t kSequenceMax = std::numeric_limits<int32_t>::max();

log::Buffer batch_of(int64_t id, int16_t epoch, int32_t sequence, int32_t count = 1,
                     int64_t timestamp = 5000) {
  return log::make_batch(count, timestamp, 10,
                         {.producer_id = model::ProducerId(id),
                          .producer_epoch = model::ProducerEpoch(epoch),
                          .base_sequence = model::Sequence(sequence)});
}

class ProducerStateTest : public testing::Test {
 protected:
  // The verdict; appended when it allows.
  ErrorCode send(int64_t id, int16_t epoch, int32_t sequence, int32_t count = 1) {
    const auto bytes = batch_of(id, epoch, sequence, count);
    const log::BatchView batch(bytes);
    const auto verdict = state.check(batch);
    if (verdict.error == ErrorCode::none && !verdict.duplicate) {
      state.append(batch, next, now_ms);
      next += count;
    }
    return verdict.error;
  }
  void refuse(int64_t id, int16_t epoch, int32_t sequence, int32_t count = 1) {
    const auto bytes = batch_of(id, epoch, sequence, count);
    state.refuse(log::BatchView(bytes), now_ms);
  }
  // The offset that a retry is answered with; -1: not a duplicate.
  int64_t duplicate_of(int64_t id, int16_t epoch, int32_t sequence, int32_t count = 1) const {
    const auto bytes = batch_of(id, epoch, sequence, count);
    const auto verdict = state.check(log::BatchView(bytes));
    return verdict.duplicate ? verdict.duplicate->base_offset.value() : -1;
  }

  ErrorCode transactional(int64_t id, int16_t epoch, int32_t sequence,
                          const BatchOrigin& origin = {}, int32_t count = 1) {
    const auto bytes = log::make_batch(count, 5000, 10,
                                       {.producer_id = model::ProducerId(id),
                                        .producer_epoch = model::ProducerEpoch(epoch),
                                        .base_sequence = model::Sequence(sequence),
                                        .transactional = true});
    const log::BatchView batch(bytes);
    const auto verdict = state.check(batch, origin);
    if (verdict.error == ErrorCode::none && !verdict.duplicate) {
      state.append(batch, next, now_ms, origin);
      next += count;
    }
    return verdict.error;
  }
  void begin(int64_t id, int16_t epoch, int32_t sequence, int32_t count = 1) {
    EXPECT_EQ(transactional(id, epoch, sequence, {}, count), ErrorCode::none);
  }
  log::MarkerBatch marker_of(int64_t id, int16_t epoch, bool commit, int32_t coordinator_epoch) {
    log::MarkerBatch bytes;
    log::encode_marker({.commit = commit, .coordinator_epoch = coordinator_epoch},
                       model::ProducerId(id), model::ProducerEpoch(epoch), 7000, bytes);
    return bytes;
  }
  ErrorCode check_end(int64_t id, int16_t epoch, const BatchOrigin& origin = {},
                      int32_t coordinator_epoch = 0) {
    const auto bytes = marker_of(id, epoch, true, coordinator_epoch);
    return state.check(log::BatchView(bytes), origin).error;
  }
  void end(int64_t id, int16_t epoch, bool commit, const BatchOrigin& origin = {},
           int32_t coordinator_epoch = 0) {
    const auto bytes = marker_of(id, epoch, commit, coordinator_epoch);
    const log::BatchView batch(bytes);
    ASSERT_EQ(state.check(batch, origin).error, ErrorCode::none);
    state.append(batch, next, now_ms, origin);
    next += 1;
  }

  ProducerState state;
  model::Offset next{100};
  int64_t now_ms = 1000;
};

TEST_F(ProducerStateTest, an_unknown_producer_may_start_anywhere) {
  EXPECT_EQ(send(1, 0, 0), ErrorCode::none);
  EXPECT_EQ(send(2, 7, 4711), ErrorCode::none);
  EXPECT_EQ(send(2, 7, 4712), ErrorCode::none);
  EXPECT_EQ(state.size(), 2u);
}

TEST_F(ProducerStateTest, sequences_follow_one_another) {
  ASSERT_EQ(send(1, 0, 0, 3), ErrorCode::none);
  EXPECT_EQ(send(1, 0, 4), ErrorCode::out_of_order_sequence_number) << "a gap";
  EXPECT_EQ(send(1, 0, 2), ErrorCode::out_of_order_sequence_number) << "an overlap";
  EXPECT_EQ(send(1, 0, 3), ErrorCode::none);
}

TEST_F(ProducerStateTest, sequences_wrap_behind_the_largest) {
  EXPECT_EQ(next_sequence(model::Sequence(kSequenceMax)), model::Sequence(0));
  EXPECT_EQ(next_sequence(model::Sequence(7)), model::Sequence(8));
  ASSERT_EQ(send(1, 0, kSequenceMax), ErrorCode::none);
  EXPECT_EQ(send(1, 0, 1), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(send(1, 0, 0), ErrorCode::none);
  EXPECT_EQ(duplicate_of(1, 0, kSequenceMax), 100);
}

TEST_F(ProducerStateTest, a_batch_may_reach_over_the_wrap) {
  ASSERT_EQ(send(1, 0, kSequenceMax - 1, 4), ErrorCode::none);  // max-1, max, 0, 1
  EXPECT_EQ(duplicate_of(1, 0, kSequenceMax - 1, 4), 100);
  EXPECT_EQ(send(1, 0, 2), ErrorCode::none);
}

TEST_F(ProducerStateTest, the_five_newest_batches_are_known_again) {
  for (int32_t i = 0; i < 7; ++i) ASSERT_EQ(send(1, 0, i * 2, 2), ErrorCode::none);
  for (int32_t i = 2; i < 7; ++i) {
    EXPECT_EQ(duplicate_of(1, 0, i * 2, 2), 100 + i * 2) << "batch " << i;
  }
  EXPECT_EQ(send(1, 0, 2, 2), ErrorCode::out_of_order_sequence_number) << "older than the window";
  EXPECT_EQ(duplicate_of(1, 0, 12, 1), -1) << "another last sequence is another batch";
}

TEST_F(ProducerStateTest, the_stored_timestamp_comes_back_with_a_duplicate) {
  ASSERT_EQ(send(1, 0, 0, 3), ErrorCode::none);
  const auto bytes = batch_of(1, 0, 0, 3);
  const auto verdict = state.check(log::BatchView(bytes));
  ASSERT_NE(verdict.duplicate, nullptr);
  EXPECT_EQ(verdict.duplicate->timestamp, 5002);
  EXPECT_EQ(verdict.duplicate->last_offset.value(), 102);
}

TEST_F(ProducerStateTest, a_new_epoch_starts_at_zero_and_forgets) {
  ASSERT_EQ(send(1, 3, 0, 5), ErrorCode::none);
  EXPECT_EQ(send(1, 4, 5), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(send(1, 4, 0), ErrorCode::none);
  EXPECT_EQ(duplicate_of(1, 3, 0, 5), -1);
  EXPECT_EQ(send(1, 3, 5), ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(send(1, 4, 1), ErrorCode::none);
}

TEST_F(ProducerStateTest, an_old_epoch_is_refused_even_as_a_duplicate) {
  ASSERT_EQ(send(1, 1, 0), ErrorCode::none);
  EXPECT_EQ(send(1, 0, 0), ErrorCode::invalid_producer_epoch);
}

TEST_F(ProducerStateTest, a_refused_first_batch_is_the_one_expected_next) {
  refuse(1, 0, 0, 3);
  EXPECT_EQ(send(1, 0, 3), ErrorCode::out_of_order_sequence_number) << "it would take its place";
  refuse(1, 0, 3);
  EXPECT_EQ(send(1, 0, 3), ErrorCode::out_of_order_sequence_number) << "refused behind the first";
  EXPECT_EQ(duplicate_of(1, 0, 0, 3), -1) << "nothing of it was kept";
  EXPECT_EQ(send(1, 0, 0, 3), ErrorCode::none);
  EXPECT_EQ(send(1, 0, 3), ErrorCode::none);
}

TEST_F(ProducerStateTest, a_refused_first_batch_need_not_begin_at_zero) {
  refuse(1, 2, 40, 3);
  EXPECT_EQ(send(1, 2, 43), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(send(1, 2, 0), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(send(1, 1, 40), ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(send(1, 3, 40), ErrorCode::out_of_order_sequence_number) << "a new epoch starts at 0";
  EXPECT_EQ(send(1, 2, 40, 3), ErrorCode::none);
  refuse(9, 0, 40);
  EXPECT_EQ(send(9, 1, 0), ErrorCode::none);
}

TEST_F(ProducerStateTest, a_refusal_changes_nothing_for_a_known_producer) {
  ASSERT_EQ(send(1, 0, 0), ErrorCode::none);
  refuse(1, 0, 1);
  refuse(1, 1, 0);
  EXPECT_EQ(duplicate_of(1, 0, 0), 100);
  EXPECT_EQ(send(1, 0, 2), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(send(1, 0, 1), ErrorCode::none);
}

TEST_F(ProducerStateTest, a_refusal_is_in_no_snapshot) {
  ASSERT_EQ(send(2, 0, 0), ErrorCode::none);
  const auto before = state.encode(next, {});
  refuse(1, 0, 5);
  refuse(3, 0, 5);
  EXPECT_EQ(state.encode(next, {}), before);
  ASSERT_EQ(send(1, 0, 5), ErrorCode::none);
  EXPECT_NE(state.encode(next, {}), before);
}

TEST_F(ProducerStateTest, refusals_count_and_expire_as_appends_do) {
  for (int64_t id = 0; id < 10; ++id, ++now_ms) refuse(id, 0, 5);
  state.limit(4);
  EXPECT_EQ(state.size(), 4u);
  EXPECT_TRUE(state.entries().contains(model::ProducerId(9)));
  EXPECT_EQ(state.expire(io::Instant{0}, 100), 0u);
  EXPECT_EQ(state.expire(io::Instant{100}, 100), 0u);
  EXPECT_EQ(state.expire(io::Instant{101}, 100), 4u);
  EXPECT_EQ(send(9, 0, 77), ErrorCode::none) << "unknown again";
}

TEST_F(ProducerStateTest, idle_producers_expire_whatever_the_wall_clock_says) {
  now_ms = 1'000'000;
  ASSERT_EQ(send(1, 0, 0), ErrorCode::none);
  ASSERT_EQ(send(2, 0, 0), ErrorCode::none);
  EXPECT_EQ(state.expire(io::Instant{0}, 4000), 0u);
  now_ms = 5;  // it stepped back, and stands
  ASSERT_EQ(send(2, 0, 1), ErrorCode::none);
  EXPECT_EQ(state.expire(io::Instant{3000}, 4000), 0u);
  ASSERT_EQ(send(2, 0, 2), ErrorCode::none);
  EXPECT_EQ(state.expire(io::Instant{4000}, 4000), 0u);
  EXPECT_EQ(state.expire(io::Instant{4001}, 4000), 1u);
  EXPECT_TRUE(state.entries().contains(model::ProducerId(2)));
  EXPECT_EQ(state.expire(io::Instant{8000}, 4000), 0u);
  EXPECT_EQ(state.expire(io::Instant{8001}, 4000), 1u);
}

TEST_F(ProducerStateTest, the_table_is_bounded_and_the_longest_idle_goes) {
  for (int64_t id = 0; id < 10; ++id, ++now_ms) ASSERT_EQ(send(id, 0, 0), ErrorCode::none);
  ASSERT_EQ(send(0, 0, 1), ErrorCode::none);  // the first is no longer idle
  state.limit(4);
  EXPECT_EQ(state.size(), 4u);
  for (const int64_t id : {0, 7, 8, 9}) {
    EXPECT_TRUE(state.entries().contains(model::ProducerId(id))) << id;
  }
}

TEST_F(ProducerStateTest, a_snapshot_gives_everything_back) {
  for (int32_t i = 0; i < 7; ++i) ASSERT_EQ(send(1, 0, i * 2, 2), ErrorCode::none);
  ASSERT_EQ(send(50, 9, 77), ErrorCode::none);
  const std::vector<log::EpochStart> epochs = {{1, model::Offset(0)}, {4, model::Offset(55)}};
  const auto bytes = state.encode(next, epochs);
  ProducerState restored;
  model::Offset at;
  std::vector<log::EpochStart> found;
  ASSERT_TRUE(restored.decode(bytes, at, found));
  EXPECT_EQ(at, next);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].epoch, 4);
  EXPECT_EQ(found[1].start_offset.value(), 55);
  EXPECT_EQ(restored.encode(next, epochs), bytes);
  state = restored;
  EXPECT_EQ(duplicate_of(1, 0, 4, 2), 104);
  EXPECT_EQ(send(1, 0, 14), ErrorCode::none);
  EXPECT_EQ(send(50, 9, 79), ErrorCode::out_of_order_sequence_number);
}

TEST_F(ProducerStateTest, an_empty_snapshot_is_one) {
  const auto bytes = state.encode(model::Offset(0), {});
  model::Offset at{7};
  std::vector<log::EpochStart> epochs;
  ASSERT_TRUE(state.decode(bytes, at, epochs));
  EXPECT_EQ(at.value(), 0);
}

TEST_F(ProducerStateTest, no_damaged_snapshot_is_taken) {
  for (int32_t i = 0; i < 3; ++i) ASSERT_EQ(send(i, 0, 0), ErrorCode::none);
  const std::vector<log::EpochStart> epochs = {{1, model::Offset(0)}};
  const auto bytes = state.encode(next, epochs);
  ProducerState other;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      auto damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(mask);
      model::Offset offset{-5};
      std::vector<log::EpochStart> found;
      ASSERT_FALSE(other.decode(damaged, offset, found)) << "byte " << at;
      ASSERT_TRUE(other.empty() && offset.value() == -5) << "something changed";
    }
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    model::Offset offset;
    std::vector<log::EpochStart> found;
    ASSERT_FALSE(other.decode(std::span(bytes).first(size), offset, found)) << size << " bytes";
  }
}

TEST_F(ProducerStateTest, a_longer_files_end_behind_a_snapshot_is_ignored) {
  ASSERT_EQ(send(1, 0, 0), ErrorCode::none);
  auto bytes = state.encode(next, {});
  bytes.insert(bytes.end(), 500, std::byte{0x77});
  ProducerState restored;
  model::Offset at;
  std::vector<log::EpochStart> epochs;
  EXPECT_TRUE(restored.decode(bytes, at, epochs));
  EXPECT_EQ(restored.size(), 1u);
}

std::vector<std::byte> golden(const std::string& name) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR "/tests/golden/snapshot/") + name);
  std::vector<std::byte> bytes;
  char high = 0;
  for (char low = 0; in >> high >> low;) {
    const char digits[] = {high, low, 0};
    bytes.push_back(static_cast<std::byte>(std::strtoul(digits, nullptr, 16)));
  }
  return bytes;
}

std::string as_text(std::span<const std::byte> bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{:02x}{}", std::to_integer<int>(bytes[i]), i % 32 == 31 ? "\n" : "");
  }
  return text;
}

TEST_F(ProducerStateTest, golden_snapshot_of_version_1_is_read) {
  model::Offset at;
  std::vector<log::EpochStart> epochs;
  ASSERT_TRUE(state.decode(golden("producers-v1.txt"), at, epochs));
  EXPECT_EQ(at.value(), 105);
  ASSERT_EQ(epochs.size(), 1u);
  EXPECT_EQ(epochs[0].epoch, 5);
  EXPECT_EQ(duplicate_of(1, 2, 3, 4), 100);
  EXPECT_EQ(duplicate_of(1, 2, 7), 104);
  EXPECT_EQ(send(1, 2, 8), ErrorCode::none);
  EXPECT_EQ(state.transactions().first_unstable_offset(), model::kNoOffset);
}

TEST_F(ProducerStateTest, golden_snapshot_of_version_2_is_read) {
  model::Offset at;
  std::vector<log::EpochStart> epochs;
  ASSERT_TRUE(state.decode(golden("producers-v2.txt"), at, epochs));
  EXPECT_EQ(at.value(), 110);
  EXPECT_EQ(duplicate_of(1, 2, 3, 4), 100);
  EXPECT_EQ(state.entries().at(model::ProducerId(1)).last_data_offset.value(), 103);
  EXPECT_EQ(state.entries().at(model::ProducerId(8)).last_data_offset, model::kNoOffset);
  EXPECT_EQ(state.transactions().first_unstable_offset().value(), 104);
}

TEST_F(ProducerStateTest, golden_snapshot_of_version_3) {
  ASSERT_EQ(send(1, 2, 3, 4), ErrorCode::none);
  begin(7, 1, 0, 2);
  begin(8, 0, 0);
  end(8, 0, false);
  begin(9, 0, 5);
  end(9, 1, true);
  const std::vector<log::EpochStart> epochs = {{5, model::Offset(6)}};
  const auto bytes = state.encode(next, epochs);
  EXPECT_EQ(as_text(bytes), as_text(golden("producers-v3.txt")));
}

TEST_F(ProducerStateTest, a_transaction_lasts_from_its_first_batch_to_its_marker) {
  begin(1, 0, 0, 3);
  begin(2, 0, 0, 2);
  begin(1, 0, 3);
  const auto& transactions = state.transactions();
  EXPECT_EQ(transactions.first_unstable_offset().value(), 100);
  end(1, 0, true);
  // Until the marker is durable nobody may read what it decides.
  EXPECT_EQ(transactions.first_unstable_offset().value(), 100);
  state.transactions().on_durable(next);
  EXPECT_EQ(transactions.first_unstable_offset().value(), 103);
  end(2, 0, false);
  state.transactions().on_durable(next - 1);
  EXPECT_EQ(transactions.first_unstable_offset().value(), 103);
  state.transactions().on_durable(next);
  EXPECT_EQ(transactions.first_unstable_offset(), model::kNoOffset);
}

TEST_F(ProducerStateTest, plain_batches_wait_for_the_end_of_a_transaction) {
  begin(1, 0, 0);
  EXPECT_EQ(send(1, 0, 1), ErrorCode::invalid_txn_state);
  end(1, 0, true);
  EXPECT_EQ(send(1, 0, 1), ErrorCode::none);
}

TEST_F(ProducerStateTest, a_marker_ends_the_window_of_retries) {
  begin(1, 0, 0);
  begin(1, 0, 1);
  end(1, 0, false);
  EXPECT_EQ(state.entries().at(model::ProducerId(1)).last_sequence().value(), 1);
  // A retry of what was aborted must not pass for a record of the next transaction.
  EXPECT_EQ(transactional(1, 0, 1), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(transactional(1, 0, 2), ErrorCode::none);
}

TEST_F(ProducerStateTest, the_place_of_the_last_data_outlives_window_and_snapshot) {
  begin(1, 0, 0, 3);
  end(1, 0, true);
  const auto place = [&] { return state.entries().at(model::ProducerId(1)).last_data_offset; };
  EXPECT_EQ(place().value(), 102);
  const auto bytes = state.encode(next, {});
  state = {};
  std::vector<log::EpochStart> epochs;
  ASSERT_TRUE(state.decode(bytes, next, epochs));
  EXPECT_EQ(place().value(), 102);
  begin(1, 0, 3);
  EXPECT_EQ(place().value(), 104);
  end(1, 1, false);
  EXPECT_EQ(place(), model::kNoOffset) << "nothing of the new epoch yet";
}

TEST_F(ProducerStateTest, a_marker_of_a_newer_epoch_fences) {
  begin(1, 0, 0);
  end(1, 1, false);
  EXPECT_EQ(state.entries().at(model::ProducerId(1)).last_sequence().value(), -1);
  EXPECT_EQ(transactional(1, 0, 1), ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(transactional(1, 1, 1), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(transactional(1, 1, 0), ErrorCode::none);
  EXPECT_EQ(check_end(1, 0), ErrorCode::invalid_producer_epoch);
}

TEST_F(ProducerStateTest, a_marker_of_an_older_coordinator_is_refused) {
  begin(1, 0, 0);
  end(1, 0, true, {}, 4);
  EXPECT_EQ(check_end(1, 0, {}, 3), ErrorCode::transaction_coordinator_fenced);
  EXPECT_EQ(check_end(1, 0, {}, 4), ErrorCode::none);
}

TEST_F(ProducerStateTest, what_comes_after_its_transactions_end_is_refused) {
  ASSERT_EQ(transactional(1, 0, 0, {.transaction = 5}), ErrorCode::none);
  end(1, 0, true, {.transaction = 5});
  EXPECT_EQ(transactional(1, 0, 1, {.transaction = 5}), ErrorCode::invalid_txn_state);
  EXPECT_EQ(transactional(1, 0, 1, {.transaction = 6}), ErrorCode::none);
  // The same where the marker found nothing to end.
  const auto marker = marker_of(2, 0, true, 0);
  EXPECT_TRUE(state.check(log::BatchView(marker), {.transaction = 3, .only_if_open = true})
                  .nothing_to_end);
  state.note_ended(model::ProducerId(2), 3, now_ms);
  EXPECT_EQ(transactional(2, 0, 0, {.transaction = 3}), ErrorCode::invalid_txn_state);
  EXPECT_EQ(transactional(2, 0, 40, {.transaction = 4}), ErrorCode::none);
}

TEST_F(ProducerStateTest, an_unknown_producer_begins_at_0_where_asked_for) {
  EXPECT_EQ(transactional(1, 0, 1, {.unknown_starts_at_0 = true}),
            ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(transactional(1, 0, 0, {.unknown_starts_at_0 = true}), ErrorCode::none);
  EXPECT_EQ(transactional(2, 0, 1), ErrorCode::none);
}

TEST_F(ProducerStateTest, batches_without_sequence_are_not_retries) {
  begin(1, 0, -1);
  begin(1, 0, -1);
  EXPECT_EQ(state.transactions().first_unstable_offset().value(), 100);
  EXPECT_EQ(state.entries().at(model::ProducerId(1)).batch_count, 0);
  const auto bytes = state.encode(next, {});
  ProducerState restored;
  model::Offset at;
  std::vector<log::EpochStart> epochs;
  ASSERT_TRUE(restored.decode(bytes, at, epochs));
  EXPECT_EQ(restored.transactions().first_unstable_offset().value(), 100);
}

TEST_F(ProducerStateTest, producers_with_open_transactions_are_not_forgotten) {
  begin(1, 0, 0);
  now_ms += 10;
  ASSERT_EQ(send(2, 0, 0), ErrorCode::none);
  state.limit(1);
  EXPECT_TRUE(state.entries().contains(model::ProducerId(1)));
  EXPECT_FALSE(state.entries().contains(model::ProducerId(2)));
  state.limit(0);
  for (const int64_t instant : {0, 10, 20}) {
    EXPECT_EQ(state.expire(io::Instant{instant}, 1), 0u);
  }
  end(1, 0, true);
  EXPECT_EQ(state.expire(io::Instant{30}, 1), 0u);
  EXPECT_EQ(state.expire(io::Instant{32}, 1), 1u);
}

TEST_F(ProducerStateTest, aborted_transactions_are_found_by_range) {
  begin(1, 0, 0);         // 100, to 105
  begin(2, 0, 0);         // 101, to 103
  begin(3, 0, 0);         // 102, committed
  end(2, 0, false);       // 103
  end(3, 0, true);        // 104
  end(1, 0, false);       // 105
  begin(4, 0, 0);         // 106
  end(4, 0, false);       // 107
  const auto found = [&](int64_t from, int64_t to) {
    std::vector<AbortedTransaction> all;
    state.transactions().find_aborted(model::Offset(from), model::Offset(to), all);
    std::vector<int64_t> ids;
    for (const auto& aborted : all) ids.push_back(aborted.producer_id.value());
    return ids;
  };
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(found(0, 1000), (Ids{1, 2, 4}));
  EXPECT_EQ(found(0, 100), (Ids{}));
  EXPECT_EQ(found(0, 101), (Ids{1}));
  EXPECT_EQ(found(103, 104), (Ids{1, 2}));
  EXPECT_EQ(found(104, 106), (Ids{1}));
  EXPECT_EQ(found(106, 107), (Ids{4}));
  EXPECT_EQ(found(108, 200), (Ids{}));
  state.transactions().forget_before(model::Offset(105));
  EXPECT_EQ(found(0, 1000), (Ids{1, 4}));
  state.transactions().forget_before(model::Offset(106));
  EXPECT_EQ(found(0, 1000), (Ids{4}));
}

}  // namespace
}  // namespace weir::partition
