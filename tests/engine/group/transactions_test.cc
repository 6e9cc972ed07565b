// Proves that offsets committed in a transaction count with its commit and not otherwise, that
// whoever asks for stable ones is told while it is open, and that a restart at any point changes
// nothing of this (KIP-98, KIP-447; CASES C76).
#include "tests/engine/group/consumer_world.h"

namespace weir::group {
namespace {

struct MarkerCall : partition::MarkerRequest {
  MarkerCall() { bind_reply<&MarkerCall::on_reply>(*this); }
  void on_reply(io::Message&) { done = true; }
  bool done = false;
};

class GroupTransactionsTest : public testing::Test {
 protected:
  std::shared_ptr<Commit> commit(CommitArgs args, int64_t producer_id = 7) {
    auto commit = std::make_shared<Commit>(args);
    commit->message.transactional = true;
    commit->message.producer_id = model::ProducerId(producer_id);
    commit->message.producer_epoch = model::ProducerEpoch(2);
    commit->message.transaction = 9;
    return world.send(commit, commit->args.group);
  }
  ErrorCode end(bool committed, int64_t producer_id = 7, const std::string& group = "g") {
    MarkerCall call;
    call.key = {model::TopicSerial(1), offsets_partition_of(group, kOffsetsPartitions)};
    call.producer_id = model::ProducerId(producer_id);
    call.producer_epoch = model::ProducerEpoch(2);
    call.marker = {.commit = committed, .coordinator_epoch = 0};
    world.core.mailboxes.send(io::CoreIndex(0), model::ports::kGroupMarker, call);
    world.run();
    EXPECT_TRUE(call.done);
    return call.error;
  }
  std::shared_ptr<Fetch> fetch(bool stable, std::optional<std::string> topic = "t") {
    auto fetch = std::make_shared<Fetch>("g", topic, std::vector<int32_t>{0}, base::Uuid{});
    fetch->message.require_stable = stable;
    return world.send(fetch, "g");
  }
  int64_t offset() { return fetch(false)->at().committed_offset; }
  ErrorCode stability() { return static_cast<ErrorCode>(fetch(true)->at().error_code); }

  ConsumerWorld world;
};

// TxnOffsetCommit knows no stale epochs of members: they are generations to it.
TEST_F(GroupTransactionsTest, members_of_consumer_groups_commit_in_their_epoch) {
  world.topics.set("t", 1);
  world.beat(joining("m", {"t"}));
  EXPECT_EQ(commit({.generation = 1, .member = "m"})->error(), ErrorCode::illegal_generation);
  EXPECT_EQ(commit({.generation = 2, .member = "x"})->error(), ErrorCode::unknown_member_id);
  EXPECT_EQ(commit({.generation = 2, .member = "m", .offset = 5, .version = 3})->error(),
            ErrorCode::none);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 5);
  EXPECT_EQ(commit({.offset = 6})->error(), ErrorCode::none) << "of a producer that names nobody";
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 6);
}

TEST_F(GroupTransactionsTest, commits_count_from_the_marker_on) {
  world.commit({.offset = 3});
  ASSERT_EQ(commit({.offset = 5})->error(), ErrorCode::none);
  EXPECT_EQ(offset(), 3);
  EXPECT_EQ(stability(), ErrorCode::unstable_offset_commit);
  EXPECT_EQ(fetch(true)->at().committed_offset, -1);
  EXPECT_EQ(fetch(true, std::nullopt)->at().error_code,
            static_cast<int16_t>(ErrorCode::unstable_offset_commit));
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 5);
  EXPECT_EQ(stability(), ErrorCode::none);
}

TEST_F(GroupTransactionsTest, an_abort_leaves_what_was_there) {
  ASSERT_EQ(commit({.offset = 5})->error(), ErrorCode::none);
  EXPECT_EQ(end(false), ErrorCode::none);
  EXPECT_EQ(offset(), -1);
  EXPECT_EQ(stability(), ErrorCode::none);
  EXPECT_EQ(world.coordinator->group_count(), 0u) << "nothing is left of the group";
}

TEST_F(GroupTransactionsTest, the_last_commit_of_a_transaction_counts) {
  commit({.offset = 5});
  commit({.offset = 6});
  commit({.topic = "u", .offset = 1}, 8);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 6);
  EXPECT_EQ(fetch(true, "u")->at().error_code,
            static_cast<int16_t>(ErrorCode::unstable_offset_commit));
  EXPECT_EQ(end(true, 8), ErrorCode::none);
  EXPECT_EQ(fetch(false, "u")->at().committed_offset, 1);
}

TEST_F(GroupTransactionsTest, what_the_group_commits_later_is_newer) {
  commit({.offset = 5});
  world.commit({.offset = 8});
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 8);
  world.crash();
  EXPECT_EQ(offset(), 8);
}

TEST_F(GroupTransactionsTest, only_what_was_accepted_is_pending) {
  auto both = commit({.partitions = {0}, .offset = 5, .metadata = std::string(4097, 'm')});
  EXPECT_EQ(both->error(), ErrorCode::offset_metadata_too_large);
  EXPECT_EQ(stability(), ErrorCode::none);
  world.log.fail = ErrorCode::invalid_txn_state;
  EXPECT_EQ(commit({.offset = 5})->error(), ErrorCode::invalid_txn_state);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(stability(), ErrorCode::none);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), -1);
}

TEST_F(GroupTransactionsTest, members_are_checked_generations_too) {
  const auto joined = world.stable();
  EXPECT_EQ(commit({.generation = 9, .member = joined->member()})->error(),
            ErrorCode::illegal_generation);
  EXPECT_EQ(commit({.generation = 1, .member = "nobody"})->error(), ErrorCode::unknown_member_id);
  EXPECT_EQ(commit({.generation = joined->generation(), .member = joined->member()})->error(),
            ErrorCode::none);
  // Without member and generation nothing is compared, also in a group that has members.
  EXPECT_EQ(commit({})->error(), ErrorCode::none);
  EXPECT_EQ(commit({.group = "none", .generation = 1})->error(), ErrorCode::illegal_generation);
  EXPECT_EQ(end(false), ErrorCode::none);
}

TEST_F(GroupTransactionsTest, a_restart_at_any_point_changes_nothing) {
  world.commit({.offset = 3});
  commit({.offset = 5});
  world.crash();
  EXPECT_EQ(offset(), 3);
  EXPECT_EQ(stability(), ErrorCode::unstable_offset_commit);
  EXPECT_EQ(end(true), ErrorCode::none);
  world.crash();
  EXPECT_EQ(offset(), 5);
  EXPECT_EQ(stability(), ErrorCode::none);
  commit({.offset = 6});
  EXPECT_EQ(end(false), ErrorCode::none);
  world.crash();
  EXPECT_EQ(offset(), 5);
  EXPECT_EQ(stability(), ErrorCode::none);
}

TEST_F(GroupTransactionsTest, tombstones_take_what_is_pending) {
  commit({.offset = 5});
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::none);
  EXPECT_EQ(stability(), ErrorCode::none);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), -1);
  world.crash();
  EXPECT_EQ(offset(), -1);
}

TEST_F(GroupTransactionsTest, pending_offsets_do_not_age) {
  commit({.offset = 5});
  world.advance_ms(int64_t{world.config.offsets_retention_minutes} * 60'000 +
                   2 * world.config.offsets_retention_check_interval_ms);
  EXPECT_EQ(stability(), ErrorCode::unstable_offset_commit);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 5);
}

TEST_F(GroupTransactionsTest, a_failed_marker_changes_nothing) {
  commit({.offset = 5});
  world.log.fail = ErrorCode::kafka_storage_error;
  EXPECT_EQ(end(true), ErrorCode::kafka_storage_error);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(stability(), ErrorCode::unstable_offset_commit);
  EXPECT_EQ(end(true), ErrorCode::none);
  EXPECT_EQ(offset(), 5);
}

}  // namespace
}  // namespace weir::group
