// Proves the rules of one transactional id, row by row of SCOPE 8: who may begin, add and end, in
// which state; new epochs, exhausted epochs, retries of missed answers (KIP-360, KIP-890), fencing.
#include "engine/transaction/transaction.h"

#include <gtest/gtest.h>

#include "engine/transaction/limits.h"

namespace weir::transaction {
namespace {

using model::ErrorCode;
using model::ProducerEpoch;
using model::ProducerId;
using S = TransactionState;

constexpr int64_t kNow = 5'000;

Claim claim(int64_t id, int16_t epoch) { return {ProducerId(id), ProducerEpoch(epoch)}; }

TransactionValue value(S state, int16_t epoch = 3, int16_t last_epoch = -1) {
  TransactionValue v;
  v.producer_id = ProducerId(7);
  v.epoch = ProducerEpoch(epoch);
  v.last_epoch = ProducerEpoch(last_epoch);
  v.timeout_ms = 1000;
  v.state = state;
  v.start_ms = v.update_ms = 1'000;
  if (state == S::ongoing || v.is_preparing()) {
    v.partitions[model::TopicSerial(1)] = {"t", {0, 2}};
  }
  return v;
}

TransactionPartitions partitions(uint32_t topic, std::set<int32_t> indexes) {
  return {{model::TopicSerial(topic), {"u", std::move(indexes)}}};
}

// What comes of it: an error, or the next value.
void expect_answer(const Decision& decision, ErrorCode error) {
  EXPECT_EQ(decision.what, Decision::Do::answer);
  EXPECT_EQ(decision.error, error);
}
void expect_write(const Decision& decision, S state, int16_t epoch,
                  ErrorCode error = ErrorCode::none) {
  ASSERT_EQ(decision.what, Decision::Do::write) << static_cast<int>(decision.error);
  EXPECT_EQ(decision.error, error);
  EXPECT_EQ(decision.next.state, state);
  EXPECT_EQ(decision.next.epoch.value(), epoch);
}

TEST(TransactionInit, a_new_id_gets_a_producer_id_and_epoch_0) {
  for (const Claim& given : {Claim{}, claim(99, 4)}) {
    Decision decision = decide_init({}, given, 1000, kNow);
    ASSERT_TRUE(decision.needs_producer_id);
    take_producer_id(decision, ProducerId(50));
    expect_write(decision, S::empty, 0);
    EXPECT_EQ(decision.next.producer_id.value(), 50);
    EXPECT_EQ(decision.next.previous_producer_id, model::kNoProducerId);
    EXPECT_EQ(decision.next.timeout_ms, 1000);
    EXPECT_EQ(decision.next.start_ms, -1);
  }
}

TEST(TransactionInit, a_known_id_gets_the_next_epoch) {
  for (const S state : {S::empty, S::complete_commit, S::complete_abort}) {
    const Decision anew = decide_init(value(state), {}, 2000, kNow);
    expect_write(anew, S::empty, 4);
    EXPECT_EQ(anew.next.last_epoch.value(), -1);
    EXPECT_EQ(anew.next.timeout_ms, 2000);
    const Decision again = decide_init(value(state), claim(7, 3), 2000, kNow);
    expect_write(again, S::empty, 4);
    EXPECT_EQ(again.next.last_epoch.value(), 3);
  }
}

TEST(TransactionInit, who_missed_the_answer_gets_it_again) {
  expect_write(decide_init(value(S::empty, 4, 3), claim(7, 3), 1000, kNow), S::empty, 4);
  expect_answer(decide_init(value(S::empty, 4, 3), claim(7, 2), 1000, kNow),
                ErrorCode::producer_fenced);
  expect_answer(decide_init(value(S::empty, 4, -1), claim(7, 3), 1000, kNow),
                ErrorCode::producer_fenced);
  expect_answer(decide_init(value(S::empty, 4, 3), claim(7, 5), 1000, kNow),
                ErrorCode::producer_fenced);
  expect_answer(decide_init(value(S::empty, 4, 3), claim(8, 4), 1000, kNow),
                ErrorCode::producer_fenced);
}

TEST(TransactionInit, an_open_transaction_is_aborted_first) {
  const Decision decision = decide_init(value(S::ongoing), {}, 1000, kNow);
  expect_write(decision, S::prepare_abort, 4, ErrorCode::concurrent_transactions);
  EXPECT_EQ(decision.next.last_epoch.value(), 3);
  EXPECT_EQ(decision.next.partition_count(), 2u);
  for (const S state : {S::prepare_commit, S::prepare_abort}) {
    expect_answer(decide_init(value(state), {}, 1000, kNow), ErrorCode::concurrent_transactions);
  }
}

TEST(TransactionInit, used_up_epochs_make_a_new_producer_id) {
  expect_write(decide_init(value(S::empty, kProducerEpochMax - 1), {}, 1, kNow), S::empty,
               kProducerEpochMax);
  for (const int16_t epoch : {kProducerEpochMax, int16_t{INT16_MAX}}) {
    Decision decision = decide_init(value(S::empty, epoch), claim(7, epoch), 1, kNow);
    ASSERT_TRUE(decision.needs_producer_id);
    take_producer_id(decision, ProducerId(8));
    expect_write(decision, S::empty, 0);
    EXPECT_EQ(decision.next.previous_producer_id.value(), 7);
    EXPECT_EQ(decision.next.last_epoch.value(), epoch);
    // The answer was missed: the producer still has the old id.
    expect_write(decide_init(decision.next, claim(7, epoch), 1, kNow), S::empty, 0);
    expect_answer(decide_init(decision.next, claim(7, 5), 1, kNow), ErrorCode::producer_fenced);
  }
}

TEST(TransactionAdd, only_the_present_producer_may_add) {
  EXPECT_EQ(check_claim(value(S::empty), claim(7, 3)), ErrorCode::none);
  EXPECT_EQ(check_claim(value(S::empty), claim(8, 3)), ErrorCode::invalid_producer_id_mapping);
  EXPECT_EQ(check_claim(value(S::empty), claim(7, 2)), ErrorCode::producer_fenced);
  EXPECT_EQ(check_claim(value(S::empty), claim(7, 4)), ErrorCode::producer_fenced);
  EXPECT_EQ(check_claim(value(S::prepare_abort), claim(7, 3)), ErrorCode::concurrent_transactions);
  EXPECT_EQ(check_claim(value(S::prepare_commit), claim(7, 3)),
            ErrorCode::concurrent_transactions);
}

TEST(TransactionAdd, the_first_partition_begins_the_transaction) {
  for (const S state : {S::empty, S::complete_commit, S::complete_abort}) {
    const Decision decision = decide_add(value(state), partitions(5, {1}), 0, kNow);
    expect_write(decision, S::ongoing, 3);
    EXPECT_EQ(decision.next.start_ms, kNow);
    EXPECT_TRUE(decision.next.contains({model::TopicSerial(5), model::PartitionIndex(1)}));
  }
  const Decision more = decide_add(value(S::ongoing), partitions(1, {1, 2}), 0, kNow);
  expect_write(more, S::ongoing, 3);
  EXPECT_EQ(more.next.start_ms, 1'000) << "the timeout counts from the beginning";
  EXPECT_EQ(more.next.partition_count(), 3u);
  expect_answer(decide_add(value(S::ongoing), {}, 0, kNow), ErrorCode::none);
}

TEST(TransactionAdd, partitions_are_limited) {
  std::set<int32_t> many;
  for (size_t i = 0; i < kPartitionsPerTransactionMax; ++i) {
    many.insert(many.end(), static_cast<int32_t>(i));
  }
  expect_write(decide_add(value(S::empty), partitions(9, many), 0, kNow), S::ongoing, 3);
  many.insert(many.end(), static_cast<int32_t>(many.size()));
  expect_answer(decide_add(value(S::empty), partitions(9, many), 0, kNow),
                ErrorCode::policy_violation);
}

Decision end(const TransactionValue& now, int16_t epoch, bool commit, bool bumps,
             int64_t id = 7) {
  return decide_end(now, claim(id, epoch), {.commit = commit, .bumps_epoch = bumps}, kNow);
}

TEST(TransactionEnd, first_protocol) {
  for (const bool commit : {false, true}) {
    SCOPED_TRACE(commit);
    const S prepared = commit ? S::prepare_commit : S::prepare_abort;
    const S complete = commit ? S::complete_commit : S::complete_abort;
    const S other_prepared = commit ? S::prepare_abort : S::prepare_commit;
    const S other_complete = commit ? S::complete_abort : S::complete_commit;
    expect_write(end(value(S::ongoing), 3, commit, false), prepared, 3);
    expect_answer(end(value(complete), 3, commit, false), ErrorCode::none);
    expect_answer(end(value(other_complete), 3, commit, false), ErrorCode::invalid_txn_state);
    expect_answer(end(value(prepared), 3, commit, false), ErrorCode::concurrent_transactions);
    expect_answer(end(value(other_prepared), 3, commit, false), ErrorCode::invalid_txn_state);
    expect_answer(end(value(S::empty), 3, commit, false), ErrorCode::invalid_txn_state);
    for (const S state : {S::empty, S::ongoing, S::complete_commit, S::complete_abort}) {
      expect_answer(end(value(state), 2, commit, false), ErrorCode::producer_fenced);
      expect_answer(end(value(state), 4, commit, false), ErrorCode::producer_fenced);
      expect_answer(end(value(state), 3, commit, false, 8),
                    ErrorCode::invalid_producer_id_mapping);
    }
  }
}

TEST(TransactionEnd, second_protocol_gives_a_new_epoch_each_time) {
  const Decision committed = end(value(S::ongoing), 3, true, true);
  expect_write(committed, S::prepare_commit, 4);
  EXPECT_EQ(committed.next.last_epoch.value(), 3);
  expect_write(end(value(S::ongoing), 3, false, true), S::prepare_abort, 4);
  // Nothing to end: a commit is an error, an abort gives a new epoch all the same.
  for (const S state : {S::empty, S::complete_commit, S::complete_abort}) {
    expect_answer(end(value(state), 3, true, true), ErrorCode::invalid_txn_state);
    expect_write(end(value(state), 3, false, true), S::complete_abort, 4);
  }
}

TEST(TransactionEnd, second_protocol_knows_a_repeated_end) {
  expect_answer(end(value(S::complete_commit), 2, true, true), ErrorCode::none);
  expect_answer(end(value(S::complete_commit), 2, false, true), ErrorCode::invalid_txn_state);
  expect_answer(end(value(S::complete_abort), 2, false, true), ErrorCode::none);
  expect_answer(end(value(S::complete_abort), 2, true, true), ErrorCode::invalid_txn_state);
  expect_answer(end(value(S::prepare_commit), 2, true, true), ErrorCode::concurrent_transactions);
  expect_answer(end(value(S::prepare_commit), 2, false, true), ErrorCode::invalid_txn_state);
  expect_answer(end(value(S::prepare_abort), 2, false, true), ErrorCode::concurrent_transactions);
  // Anything else is a zombie's: also the next transaction's, of which the epoch says nothing yet.
  expect_answer(end(value(S::ongoing), 2, true, true), ErrorCode::producer_fenced);
  expect_answer(end(value(S::prepare_commit), 3, true, true), ErrorCode::producer_fenced);
  expect_answer(end(value(S::complete_commit), 1, true, true), ErrorCode::producer_fenced);
  expect_answer(end(value(S::complete_commit), 2, true, true, 8),
                ErrorCode::invalid_producer_id_mapping);
}

TEST(TransactionEnd, used_up_epochs_end_in_a_new_producer_id) {
  Decision last = end(value(S::ongoing, kProducerEpochMax - 1), kProducerEpochMax - 1, true, true);
  EXPECT_FALSE(last.needs_producer_id);
  Decision decision = end(value(S::ongoing, kProducerEpochMax), kProducerEpochMax, true, true);
  ASSERT_TRUE(decision.needs_producer_id);
  take_producer_id(decision, ProducerId(8));
  // The marker still has the old id, with an epoch no producer ever has.
  expect_write(decision, S::prepare_commit, INT16_MAX);
  EXPECT_EQ(decision.next.producer_id.value(), 7);
  EXPECT_EQ(claim_after(decision.next).producer_id.value(), 8);
  EXPECT_EQ(claim_after(decision.next).epoch.value(), 0);
  const TransactionValue done = completed(decision.next, kNow);
  EXPECT_EQ(done.producer_id.value(), 8);
  EXPECT_EQ(done.previous_producer_id.value(), 7);
  EXPECT_EQ(done.epoch.value(), 0);
  expect_answer(end(done, kProducerEpochMax, true, true), ErrorCode::none);
  expect_answer(end(done, kProducerEpochMax - 1, true, true),
                ErrorCode::invalid_producer_id_mapping);
  // An abort of nothing does the same.
  Decision nothing = end(value(S::empty, kProducerEpochMax), kProducerEpochMax, false, true);
  ASSERT_TRUE(nothing.needs_producer_id);
  take_producer_id(nothing, ProducerId(9));
  expect_write(nothing, S::complete_abort, 0);
  EXPECT_EQ(nothing.next.producer_id.value(), 9);
}

TEST(TransactionEnd, completion_forgets_the_partitions) {
  const TransactionValue done = completed(value(S::prepare_abort), kNow);
  EXPECT_TRUE(done.is(S::complete_abort));
  EXPECT_EQ(done.partition_count(), 0u);
  EXPECT_EQ(done.epoch.value(), 3);
  EXPECT_EQ(done.start_ms, 1'000);
  EXPECT_TRUE(completed(value(S::prepare_commit), kNow).is(S::complete_commit));
}

TEST(TransactionTimeout, who_was_timed_out_may_come_back_with_what_it_has) {
  const TransactionValue aborted = completed(fenced(value(S::ongoing), kNow), kNow);
  EXPECT_EQ(aborted.epoch.value(), 4);
  expect_answer(end(aborted, 3, true, false), ErrorCode::producer_fenced);
  expect_answer(end(aborted, 3, true, true), ErrorCode::invalid_txn_state);
  expect_write(decide_init(aborted, claim(7, 3), 1000, kNow), S::empty, 4);
}

TEST(TransactionState, names_are_kafkas) {
  EXPECT_EQ(name(S::empty), "Empty");
  EXPECT_EQ(name(S::prepare_epoch_fence), "PrepareEpochFence");
  EXPECT_EQ(name(static_cast<S>(8)), "");
}

}  // namespace
}  // namespace weir::transaction
