// Which quota holds for a client, in Kafka's order; quotas to the byte, through the log and over a
// restart.
#include "engine/catalog/client_quotas.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/model/limits.h"
#include "tests/engine/catalog/catalog_support.h"

namespace weir::catalog {
namespace {

using enum QuotaName;

QuotaEntity entity(QuotaName user_kind, std::string user, QuotaName client_kind,
                   std::string client) {
  return {user_kind, std::move(user), client_kind, std::move(client)};
}

// From the least to the most specific.
const QuotaEntity kOrder[] = {
    entity(absent, "", any, ""),    entity(absent, "", named, "c"), entity(any, "", absent, ""),
    entity(any, "", any, ""),       entity(any, "", named, "c"),    entity(named, "u", absent, ""),
    entity(named, "u", any, ""),    entity(named, "u", named, "c"),
};

TEST(ClientQuotasTest, TheMostSpecificHolds) {
  ClientQuotas quotas;
  EXPECT_FALSE(find_quota(quotas, QuotaKind::produce, "u", "c"));
  double value = 0;
  for (const QuotaEntity& one : kOrder) {
    quotas[one] = {{"consumer_byte_rate", 5}};
    const auto other = find_quota(quotas, QuotaKind::produce, "u", "c");
    EXPECT_EQ(other ? other->limit : 0, value) << "one that is about something else";
    quotas[one] = {{"producer_byte_rate", ++value}};
    const auto found = find_quota(quotas, QuotaKind::produce, "u", "c");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limit, value);
    EXPECT_EQ(found->per_user, one.user_kind != absent);
    EXPECT_EQ(found->per_client_id, one.client_id_kind != absent);
    EXPECT_FALSE(find_quota(quotas, QuotaKind::request, "u", "c"));
  }
  EXPECT_EQ(find_quota(quotas, QuotaKind::produce, "other", "other")->limit, 4);
  EXPECT_EQ(find_quota(quotas, QuotaKind::produce, "u", "")->limit, 7);
}

class QuotaLogTest : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void TearDown() override { world.run_for(kTestSecond); }  // the last frontier may be on its way
  void start() {
    node = std::make_unique<TestNode>(world);
    ASSERT_TRUE(node->start());
  }
  void restart() {
    ASSERT_TRUE(node->stop());
    node.reset();
    world.crash(io::sim::CrashKind::power_cut);
    world.restart(2);
    start();
  }
  model::ErrorCode alter(const QuotaEntity& whose, std::vector<QuotaOp> ops) {
    ChangeRequest request;
    request.kind = ChangeRequest::Kind::alter_client_quotas;
    request.quota_entity = whose;
    request.quota_ops = std::move(ops);
    EXPECT_TRUE(node->change(request));
    return request.error;
  }

  io::sim::SimWorld world{1, {.core_count = 2}};
  std::unique_ptr<TestNode> node;
};

TEST(ClientQuotasTest, ChangesToTheByteAndBack) {
  for (const QuotaEntity& one : kOrder) {
    const Change change{.kind = ChangeKind::set_client_quotas,
                        .quota_entity = one,
                        .quotas = {{"consumer_byte_rate", 0.25}, {"request_percentage", 1e12}}};
    std::vector<std::byte> bytes;
    encode_change(change, bytes);
    const auto decoded = decode_changes(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ((*decoded)[0], change);
    for (size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_changes(std::span(bytes).first(size)));
    }
  }
}

TEST(ClientQuotasTest, WhatThisVersionCannotHaveWrittenIsRefused) {
  const auto is_read = [](const Change& change, size_t position = 0, int value = -1) {
    std::vector<std::byte> bytes;
    encode_change(change, bytes);
    if (value >= 0) bytes[position] = static_cast<std::byte>(value);
    return decode_changes(bytes).has_value();
  };
  Change change{.kind = ChangeKind::set_client_quotas,
                .quota_entity = entity(named, "u", absent, ""),
                .quotas = {{"request_percentage", 1}}};
  EXPECT_TRUE(is_read(change));
  EXPECT_FALSE(is_read(change, 1, 1)) << "flags";
  EXPECT_FALSE(is_read(change, 8, 0)) << "a name of nobody";
  EXPECT_FALSE(is_read(change, 8, 3)) << "a kind of name that does not exist";
  change.quota_entity = entity(named, "", absent, "");
  EXPECT_FALSE(is_read(change));
  change.quota_entity = entity(absent, "", absent, "");
  EXPECT_FALSE(is_read(change));
  change.quota_entity = entity(any, "", absent, "");
  EXPECT_TRUE(is_read(change));
  change.quotas = {{"request_percentage", 0}};
  EXPECT_FALSE(is_read(change));
}

TEST_F(QuotaLogTest, QuotasAreThereAfterARestart) {
  double value = 0;
  for (const QuotaEntity& one : kOrder) {
    EXPECT_EQ(alter(one, {{"producer_byte_rate", ++value}}), model::ErrorCode::none);
  }
  EXPECT_EQ(alter(kOrder[3], {{"producer_byte_rate", std::nullopt}}), model::ErrorCode::none);
  EXPECT_EQ(alter(kOrder[4], {{"producer_byte_rate", -1}}), model::ErrorCode::invalid_request);
  for (int i = 0; i < 3; ++i, restart()) {
    for (uint16_t core = 0; core < 2; ++core) {
      const ClientQuotas& quotas = node->catalog(core).client_quotas();
      EXPECT_EQ(quotas.size(), std::size(kOrder) - 1);
      EXPECT_EQ(quotas.find(kOrder[3]), quotas.end());
      EXPECT_EQ(quotas.at(kOrder[4]).at("producer_byte_rate"), 5);
    }
  }
}

TEST_F(QuotaLogTest, ChangesOfOneEntityComeInOrder) {
  ChangeRequest requests[3];
  for (int i = 0; i < 3; ++i) {
    requests[i].kind = ChangeRequest::Kind::alter_client_quotas;
    requests[i].quota_entity = kOrder[i == 2 ? 1 : 0];
    requests[i].quota_ops = {{"producer_byte_rate", i + 1.0}};
    node->send(requests[i]);
  }
  EXPECT_TRUE(world.run_until([&] { return !requests[2].away() && !requests[1].away(); },
                              10 * kTestSecond));
  EXPECT_EQ(node->catalog().client_quotas().at(kOrder[0]).at("producer_byte_rate"), 2);
  EXPECT_EQ(node->catalog().client_quotas().at(kOrder[1]).at("producer_byte_rate"), 3);
}

TEST_F(QuotaLogTest, ThereIsALimitOfEntities) {
  std::vector<ChangeRequest> requests(model::kClientQuotasMax + 1);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].kind = ChangeRequest::Kind::alter_client_quotas;
    requests[i].quota_entity = entity(absent, "", named, std::to_string(i));
    requests[i].quota_ops = {{"request_percentage", 1.0}};
    node->send(requests[i]);
  }
  const auto done = [&] {
    return std::ranges::none_of(requests, [](const auto& request) { return request.away(); });
  };
  EXPECT_TRUE(world.run_until(done, 100 * kTestSecond));
  EXPECT_EQ(requests[requests.size() - 2].error, model::ErrorCode::none);
  EXPECT_EQ(requests.back().error, model::ErrorCode::policy_violation);
  EXPECT_EQ(node->catalog().client_quotas().size(), model::kClientQuotasMax);
  // What has quotas may get others.
  EXPECT_EQ(alter(entity(absent, "", named, "7"), {{"request_percentage", 2.0}}),
            model::ErrorCode::none);
}

}  // namespace
}  // namespace weir::catalog
