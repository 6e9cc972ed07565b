// What a heartbeat of a consumer group may say (SCOPE 16, GroupMetadataManager): refused before
// anything changes.

#include <fmt/format.h>

#include <algorithm>

#include "engine/group/consumer_groups.h"
#include "engine/group/limits.h"
#include "engine/group/topic_regex.h"

namespace weir::group {

using model::ErrorCode;

namespace {

using Request = wire::ConsumerGroupHeartbeatRequest;

constexpr int16_t kVersionMemberIdOfClient = 1;

bool is_empty(const wire::NullableString& text) { return text && text->empty(); }

}  // namespace

Assignment ConsumerGroups::owned_of(const Request& request) {
  Assignment owned;
  for (const auto& topic : request.topic_partitions) {
    auto& partitions = owned[topic.topic_id];
    partitions.insert(partitions.end(), topic.partitions.begin(), topic.partitions.end());
  }
  for (auto& [topic, partitions] : owned) {
    std::ranges::sort(partitions);
    const auto twice = std::ranges::unique(partitions);
    partitions.erase(twice.begin(), twice.end());
  }
  return owned;
}

ConsumerGroups::Fault ConsumerGroups::check_request(const ConsumerGroupHeartbeatCall& call) const {
  const Request& request = *call.request;
  const auto invalid = [](std::string message) {
    return Fault{ErrorCode::invalid_request, std::move(message)};
  };
  if (request.group_id.empty()) return invalid("GroupId can't be empty.");
  if (is_empty(request.instance_id)) return invalid("InstanceId can't be empty.");
  if (is_empty(request.rack_id)) return invalid("RackId can't be empty.");
  const bool id_needed = request.member_epoch != 0 || call.api_version >= kVersionMemberIdOfClient;
  if (id_needed && request.member_id.empty()) return invalid("MemberId can't be empty.");
  if (request.member_epoch < kStaticLeaveEpoch) return invalid("MemberEpoch is invalid.");
  if (request.member_epoch == kStaticLeaveEpoch && !request.instance_id) {
    return invalid("InstanceId can't be null.");
  }
  if (request.rebalance_timeout_ms < -1) return invalid("RebalanceTimeoutMs is invalid.");
  if (request.member_epoch == 0) {
    if (request.rebalance_timeout_ms == -1) {
      return invalid("RebalanceTimeoutMs must be provided in first request.");
    }
    if (request.topic_partitions.is_null() || !request.topic_partitions.empty()) {
      return invalid("TopicPartitions must be empty when (re-)joining.");
    }
    if (request.subscribed_topic_names.is_null() && !request.subscribed_topic_regex) {
      return invalid(
          "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
          "(re-)joining.");
    }
  }
  if (request.server_assignor && !has_assignor(*request.server_assignor)) {
    return {ErrorCode::unsupported_assignor,
            fmt::format("ServerAssignor {} is not supported. Supported assignors: {}.",
                        *request.server_assignor, config_.consumer_assignors)};
  }
  return check_limits(request);
}

ConsumerGroups::Fault ConsumerGroups::check_limits(const Request& request) const {
  const auto too_many = [](std::string_view what, size_t is, size_t allowed) {
    return Fault{ErrorCode::invalid_request,
                 fmt::format("{}: {} of at most {} allowed.", what, is, allowed)};
  };
  if (request.member_id.size() > kMemberIdSizeMax) {
    return too_many("Bytes of MemberId", request.member_id.size(), kMemberIdSizeMax);
  }
  if (request.subscribed_topic_names.size() > kSubscribedTopicsMax) {
    return too_many("SubscribedTopicNames", request.subscribed_topic_names.size(),
                    kSubscribedTopicsMax);
  }
  size_t owned = 0;
  for (const auto& topic : request.topic_partitions) owned += 1 + topic.partitions.size();
  if (owned > kOwnedPartitionsMax) return too_many("TopicPartitions", owned, kOwnedPartitionsMax);
  if (!request.subscribed_topic_regex || request.subscribed_topic_regex->empty()) return {};
  const auto compiled = TopicRegex::compile(*request.subscribed_topic_regex);
  if (compiled) return {};
  return {ErrorCode::invalid_regular_expression,
          fmt::format("SubscribedTopicRegex `{}` is not a valid regular expression: {}.",
                      request.subscribed_topic_regex->substr(0, kRegexSizeMax),
                      compiled.error().detail)};
}

ConsumerGroups::Fault ConsumerGroups::check_group(const Request& request,
                                                  const Group* group) const {
  const auto not_found = [](std::string message) {
    return Fault{ErrorCode::group_id_not_found, std::move(message)};
  };
  const bool joins = request.member_epoch == 0;
  if (group == nullptr) {
    if (joins) return {};
    if (request.member_epoch < 0) {
      return not_found(fmt::format("Group {} not found.", request.group_id));
    }
    return not_found(fmt::format("Consumer group {} not found.", request.group_id));
  }
  if (group->is(GroupState::dead)) {
    return {ErrorCode::coordinator_not_available, "The group is being deleted."};
  }
  if (group->consumer) {
    if (!group->consumer->needs_rewrite) return {};
    return {ErrorCode::coordinator_not_available, "The group's last change is not stored yet."};
  }
  if (!joins) {
    return not_found(fmt::format("Group {} is not a consumer group.", request.group_id));
  }
  if (group->is_empty()) return {};
  if (group->protocol_type() != "consumer") {
    return not_found(
        fmt::format("Cannot upgrade classic group {} to consumer group because the group does not "
                    "use the consumer embedded protocol.",
                    request.group_id));
  }
  return not_found(
      fmt::format("Cannot upgrade classic group {} to consumer group because it has members and "
                  "online upgrade is disabled.",
                  request.group_id));
}

ConsumerGroups::Fault ConsumerGroups::check_member(const Request& request,
                                                   const Group* group) const {
  const ConsumerGroup* const consumer = group != nullptr ? group->consumer.get() : nullptr;
  const ConsumerMember* const by_id =
      consumer != nullptr ? consumer->find(request.member_id) : nullptr;
  const auto unknown = [&] {
    return Fault{ErrorCode::unknown_member_id,
                 fmt::format("Member {} is not a member of group {}.", request.member_id,
                             request.group_id)};
  };
  const bool joins = request.member_epoch == 0;
  if (!request.instance_id) {
    if (by_id == nullptr) return joins ? Fault{} : unknown();
    return check_epoch_of(request, *by_id);
  }
  const ConsumerMember* const holder =
      consumer != nullptr ? consumer->find_static(*request.instance_id) : nullptr;
  if (holder == nullptr) {
    if (joins) return {};
    return {ErrorCode::unknown_member_id,
            fmt::format("Instance id {} is unknown.", *request.instance_id)};
  }
  if (holder == by_id) return check_epoch_of(request, *holder);
  if (!joins) {
    return {ErrorCode::fenced_instance_id,
            fmt::format("Static member {} with instance id {} was fenced by member {}.",
                        request.member_id, *request.instance_id, holder->id())};
  }
  if (!holder->is_away()) {
    return {ErrorCode::unreleased_instance_id,
            fmt::format("Static member {} with instance id {} cannot join the group because the "
                        "instance id is owned by {} member.",
                        request.member_id, *request.instance_id, holder->id())};
  }
  if (by_id == nullptr) return {};
  return {ErrorCode::invalid_request,
          fmt::format("MemberId {} belongs to another member.", request.member_id)};
}

// A member may join again at any time; whoever leaves may be in any epoch.
ConsumerGroups::Fault ConsumerGroups::check_epoch_of(const Request& request,
                                                     const ConsumerMember& member) {
  const CurrentAssignment& current = member.current();
  if (request.member_epoch <= 0 || request.member_epoch == current.epoch) return {};
  const bool greater = request.member_epoch > current.epoch;
  // The answer with the newer epoch may have been lost.
  if (!greater && request.member_epoch == current.previous_epoch &&
      !request.topic_partitions.is_null() && is_subset(owned_of(request), current.assigned)) {
    return {};
  }
  return {ErrorCode::fenced_member_epoch,
          fmt::format("The consumer group member has a {} member epoch ({}) than the one known by "
                      "the group coordinator ({}). The member must abandon all its partitions and "
                      "rejoin.",
                      greater ? "greater" : "smaller", request.member_epoch, current.epoch)};
}

// For a member that is not there yet, and for what one says anew.
ConsumerGroups::Fault ConsumerGroups::check_room(const Request& request, const Group* group) const {
  const ConsumerGroup* const consumer = group != nullptr ? group->consumer.get() : nullptr;
  const bool is_known =
      consumer != nullptr &&
      (consumer->find(request.member_id) != nullptr ||
       (request.instance_id && consumer->find_static(*request.instance_id) != nullptr));
  if (!is_known && consumer != nullptr &&
      consumer->member_count() >= static_cast<size_t>(config_.consumer_max_size)) {
    ++metrics_.refused_for_limits;
    return {ErrorCode::group_max_size_reached,
            fmt::format("The consumer group has reached its maximum capacity of {} members.",
                        config_.consumer_max_size)};
  }
  size_t size = is_known ? 0 : kMemberCost + 2 * request.member_id.size();
  for (const std::string_view topic : request.subscribed_topic_names) {
    size += kTextCost + topic.size();
  }
  const std::string_view regex = request.subscribed_topic_regex.value_or("");
  size += regex.size();
  if (!regex.empty() && consumer != nullptr && !consumer->regexes().contains(regex) &&
      consumer->regexes().size() >= kRegexesPerGroupMax) {
    ++metrics_.refused_for_limits;
    return {ErrorCode::invalid_request,
            fmt::format("The members of the group use {} regular expressions already.",
                        kRegexesPerGroupMax)};
  }
  if (size == 0 || table_.has_room(size)) return {};
  return {ErrorCode::coordinator_not_available, "The memory for groups is used up."};
}

}  // namespace weir::group
