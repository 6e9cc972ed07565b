// weir group list | describe | delete | reset

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/wire/messages/delete_groups.h"
#include "engine/wire/messages/list_groups.h"
#include "tools/weir/commands.h"
#include "tools/weir/group_reset.h"
#include "tools/weir/group_view.h"
#include "tools/weir/table.h"
#include "tools/weir/when.h"

namespace weir::tools {
namespace {

using Json = nlohmann::ordered_json;
using model::ErrorCode;

struct Options {
  std::string bootstrap;
  std::vector<std::string> names;
  bool json = false;
  // reset
  std::string group_id;
  std::vector<std::string> topics;
  bool to_earliest = false;
  bool to_latest = false;
  std::optional<int64_t> to_offset;
  std::string to_datetime;
  std::string by_duration;
  bool execute = false;
};

// Offsets, counts and seconds where -1 stands for "there is none".
Json json_or_null(auto value) { return value < 0 ? Json(nullptr) : Json(value); }

std::string text_or_dash(int64_t value) { return value < 0 ? "-" : std::to_string(value); }

void list(const Options& options) {
  WireClient client(options.bootstrap);
  const auto answer = client.call<wire::ListGroupsResponse>(wire::ListGroupsRequest{});
  check(answer->error_code, "ListGroups");
  std::map<std::string, Json> groups;
  for (const auto& group : answer->groups) {
    groups[std::string(group.group_id)] = {{"group", std::string(group.group_id)},
                                           {"state", std::string(group.group_state)},
                                           {"type", std::string(group.protocol_type)}};
  }
  Json json = Json::array();
  Table table({"GROUP", "STATE", "TYPE"});
  for (auto& [id, group] : groups) {
    table.add({id, group["state"].get<std::string>(), group["type"].get<std::string>()});
    json.push_back(std::move(group));
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2));
  } else if (table.empty()) {
    fmt::print("no groups\n");
  } else {
    table.print();
  }
}

Json to_json(const GroupView& view) {
  Json members = Json::array();
  for (const GroupMember& member : view.members) {
    Json partitions = Json::array();
    for (const PartitionName& name : member.partitions) {
      partitions.push_back({{"topic", name.topic}, {"partition", name.partition}});
    }
    members.push_back({{"member", member.member_id},
                       {"instance", member.instance_id},
                       {"client", member.client_id},
                       {"host", member.host},
                       {"partitions", std::move(partitions)}});
  }
  Json partitions = Json::array();
  for (const GroupPartition& partition : view.partitions) {
    partitions.push_back(
        {{"topic", partition.name.topic},
         {"partition", partition.name.partition},
         {"committed", json_or_null(partition.committed.value_or(-1))},
         {"log_end", json_or_null(partition.log_end)},
         {"lag", json_or_null(partition.lag.value_or(-1))},
         {"lag_seconds", json_or_null(partition.lag_seconds.value_or(-1))},
         {"member", partition.member ? Json(partition.member->member_id) : Json(nullptr)}});
  }
  return {{"group", view.group_id},
          {"state", view.state},
          {"type", view.protocol_type},
          {"protocol", view.protocol},
          {"members", std::move(members)},
          {"partitions", std::move(partitions)}};
}

void print_group(const GroupView& view) {
  fmt::print("{}  {}{}{}  {} member{}\n", view.group_id, view.state,
             view.protocol.empty() ? "" : "  ", view.protocol, view.members.size(),
             view.members.size() == 1 ? "" : "s");
  Table table({"TOPIC", ">PARTITION", ">COMMITTED", ">LOG END", ">LAG", ">LAG SECONDS", "MEMBER",
               "HOST"});
  int64_t total = 0;
  for (const GroupPartition& partition : view.partitions) {
    total += partition.lag.value_or(0);
    table.add({partition.name.topic, std::to_string(partition.name.partition),
               text_or_dash(partition.committed.value_or(-1)),
               partition.log_end < 0 ? "gone" : std::to_string(partition.log_end),
               text_or_dash(partition.lag.value_or(-1)),
               partition.lag_seconds ? fmt::format("{:.1f}", *partition.lag_seconds) : "-",
               partition.member ? partition.member->member_id : "-",
               partition.member ? partition.member->host : "-"});
  }
  if (!table.empty()) table.print();
  fmt::print("lag {} record{}\n", total, total == 1 ? "" : "s");
}

void describe(const Options& options) {
  WireClient client(options.bootstrap);
  const auto ids = options.names.empty() ? list_group_ids(client) : options.names;
  Json json = Json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    const GroupView view = describe_group(client, ids[i]);
    if (options.json) {
      json.push_back(to_json(view));
      continue;
    }
    if (i > 0) fmt::print("\n");
    print_group(view);
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2));
  } else if (ids.empty()) {
    fmt::print("no groups\n");
  }
}

void delete_groups(const Options& options) {
  std::vector<std::string_view> names(options.names.begin(), options.names.end());
  WireClient client(options.bootstrap);
  const auto answer = client.call<wire::DeleteGroupsResponse>(
      wire::DeleteGroupsRequest{.groups_names = array_of(names)});
  for (const auto& group : answer->results) {
    if (static_cast<ErrorCode>(group.error_code) == ErrorCode::non_empty_group) {
      fail("group {} has members; stop its consumers first", group.group_id);
    }
    check(group.error_code, fmt::format("group {} was not deleted", group.group_id));
    fmt::print("deleted {}\n", group.group_id);
  }
}

ResetTarget reset_target(const Options& options) {
  using Kind = ResetTarget::Kind;
  if (options.to_earliest) return {Kind::earliest, 0};
  if (options.to_latest) return {Kind::latest, 0};
  if (options.to_offset) return {Kind::offset, *options.to_offset};
  if (!options.to_datetime.empty()) {
    const auto time_ms = parse_time(options.to_datetime);
    if (!time_ms) {
      fail_usage("--to-datetime wants a time such as 2026-11-29T18:45:00Z, not '{}'",
                 options.to_datetime);
    }
    return {Kind::time, *time_ms};
  }
  const auto duration_ms = parse_duration(options.by_duration);
  if (!duration_ms) {
    fail_usage("--by-duration wants a span such as 90m, 2h or PT2H, not '{}'",
               options.by_duration);
  }
  return {Kind::time, now_ms() - *duration_ms};
}

void reset(const Options& options) {
  const ResetTarget target = reset_target(options);
  WireClient client(options.bootstrap);
  const auto steps = plan_reset(client, options.group_id, options.topics, target);
  if (options.execute) execute_reset(client, options.group_id, steps);
  Json json = Json::array();
  Table table({"TOPIC", ">PARTITION", ">FROM", ">TO"});
  for (const ResetStep& step : steps) {
    table.add({step.name.topic, std::to_string(step.name.partition), text_or_dash(step.from),
               std::to_string(step.to)});
    json.push_back({{"topic", step.name.topic},
                    {"partition", step.name.partition},
                    {"from", json_or_null(step.from)},
                    {"to", step.to},
                    {"executed", options.execute}});
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2));
    return;
  }
  table.print();
  fmt::print("{}\n", options.execute ? "done" : "nothing was changed; add --execute to do it");
}

void add_reset(CLI::App& group, const std::shared_ptr<Options>& options) {
  CLI::App* command = group.add_subcommand("reset", "Move committed offsets; a dry run by default");
  add_bootstrap(*command, options->bootstrap);
  command->add_option("group", options->group_id, "Group")->required();
  command->add_option("--topic,-t", options->topics,
                      "NAME or NAME:PARTITION,...; repeatable (all the group has committed to)")
      ->allow_extra_args(false);
  CLI::Option_group* where = command->add_option_group("where to");
  where->add_flag("--to-earliest", options->to_earliest, "The first record");
  where->add_flag("--to-latest", options->to_latest, "Behind the last record");
  where->add_option("--to-offset", options->to_offset, "This offset, within the log")
      ->check(CLI::NonNegativeNumber);
  where->add_option("--to-datetime", options->to_datetime,
                    "The first record since a time, 2026-11-29T18:45:00Z");
  where->add_option("--by-duration", options->by_duration,
                    "The first record of the last 90s, 15m, 2h, 7d or PT2H");
  where->require_option(1);
  command->add_flag("--execute", options->execute, "Do it");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options] { reset(*options); });
}

}  // namespace

void add_group(CLI::App& app) {
  CLI::App* group = app.add_subcommand("group", "List, describe, delete, reset consumer groups");
  group->require_subcommand(1);
  const auto options = std::make_shared<Options>();

  CLI::App* command = group->add_subcommand("list", "List groups");
  add_bootstrap(*command, options->bootstrap);
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options] { list(*options); });

  command = group->add_subcommand("describe", "Committed offsets, lag in records and in seconds");
  add_bootstrap(*command, options->bootstrap);
  command->add_option("group", options->names, "Groups (all)");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options] { describe(*options); });

  command = group->add_subcommand("delete", "Delete groups without members");
  add_bootstrap(*command, options->bootstrap);
  command->add_option("group", options->names, "Groups")->required();
  command->callback([options] { delete_groups(*options); });

  add_reset(*group, options);
}

}  // namespace weir::tools
