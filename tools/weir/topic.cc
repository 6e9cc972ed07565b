// weir topic create | list | describe | alter | delete

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "engine/wire/messages/create_partitions.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/delete_topics.h"
#include "engine/wire/messages/describe_configs.h"
#include "engine/wire/messages/incremental_alter_configs.h"
#include "tools/weir/cluster.h"
#include "tools/weir/commands.h"
#include "tools/weir/table.h"
#include "tools/weir/wire_client.h"

namespace weir::tools {
namespace {

using Json = nlohmann::ordered_json;
using model::ErrorCode;

constexpr int8_t kTopicResource = 2;
constexpr int8_t kSourceTopic = 1;  // a value that belongs to the topic itself
constexpr int32_t kTimeout_ms = 30'000;
constexpr int8_t kOperationSet = 0;
constexpr int8_t kOperationDelete = 1;

struct Options {
  std::string bootstrap;
  std::vector<std::string> names;
  int32_t partitions = -1;
  std::vector<std::string> configs;         // name=value
  std::vector<std::string> deleted_configs;
  bool tolerant = false;  // --if-not-exists, --if-exists
  bool internal = false;
  bool json = false;
};

struct Setting {
  std::string name;
  std::string value;
};

std::vector<Setting> parse_settings(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) fail_usage("--config wants name=value, not '{}'", text);
    settings.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return settings;
}

void create(const Options& options) {
  const auto settings = parse_settings(options.configs);
  std::vector<wire::CreateTopicsRequest::Config> configs;
  for (const Setting& setting : settings) configs.push_back({setting.name, setting.value});
  std::vector<wire::CreateTopicsRequest::Topic> topics;
  for (const std::string& name : options.names) {
    topics.push_back({.name = name,
                      .num_partitions = options.partitions,
                      .replication_factor = -1,
                      .configs = array_of(configs)});
  }
  WireClient client(options.bootstrap);
  const auto answer = client.call<wire::CreateTopicsResponse>(
      wire::CreateTopicsRequest{.topics = array_of(topics), .timeout_ms = kTimeout_ms});
  for (const auto& topic : answer->topics) {
    const bool exists =
        static_cast<ErrorCode>(topic.error_code) == ErrorCode::topic_already_exists;
    if (exists && options.tolerant) {
      fmt::print("{} exists already\n", topic.name);
      continue;
    }
    check(topic.error_code, fmt::format("topic {} was not created", topic.name),
          topic.error_message);
    fmt::print("created {} with {} partition{}\n", topic.name, topic.num_partitions,
               topic.num_partitions == 1 ? "" : "s");
  }
}

void list(const Options& options) {
  WireClient client(options.bootstrap);
  Json json = Json::array();
  Table table({"TOPIC", ">PARTITIONS"});
  for (const TopicInfo& topic : describe_topics(client, {})) {
    if (topic.internal && !options.internal) continue;
    table.add({topic.name, std::to_string(topic.partitions.size())});
    json.push_back({{"topic", topic.name},
                    {"partitions", topic.partitions.size()},
                    {"internal", topic.internal}});
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2));
  } else if (table.empty()) {
    fmt::print("no topics; create one with 'weir topic create NAME'\n");
  } else {
    table.print();
  }
}

// Settings of the topic itself, not those it has from the broker.
Json own_settings(WireClient& client, const std::string& topic) {
  std::vector<wire::DescribeConfigsRequest::Resource> resources{
      {.resource_type = kTopicResource,
       .resource_name = topic,
       .configuration_keys = wire::Array<std::string_view>::null()}};
  const auto answer = client.call<wire::DescribeConfigsResponse>(
      wire::DescribeConfigsRequest{.resources = array_of(resources)});
  Json settings = Json::object();
  for (const auto& result : answer->results) {
    check(result.error_code, fmt::format("settings of {}", topic), result.error_message);
    for (const auto& config : result.configs) {
      if (config.config_source != kSourceTopic) continue;
      settings[std::string(config.name)] = std::string(config.value.value_or(""));
    }
  }
  return settings;
}

Json describe_one(WireClient& client, const TopicInfo& topic) {
  check(topic.error_code, fmt::format("topic {}", topic.name));
  std::vector<PartitionName> names;
  for (const int32_t partition : topic.partitions) names.push_back({topic.name, partition});
  const auto starts = list_offsets(client, names, kEarliest);
  const auto ends = list_offsets(client, names, kLatest);
  Json partitions = Json::array();
  for (const PartitionName& name : names) {
    partitions.push_back({{"partition", name.partition},
                          {"start", starts.at(name)},
                          {"end", ends.at(name)},
                          {"records", ends.at(name) - starts.at(name)}});
  }
  return {{"topic", topic.name},
          {"id", topic.id.to_string()},
          {"internal", topic.internal},
          {"settings", own_settings(client, topic.name)},
          {"partitions", std::move(partitions)}};
}

void print_topic(const Json& topic) {
  fmt::print("{}  id {}{}\n", topic["topic"].get<std::string>(), topic["id"].get<std::string>(),
             topic["internal"].get<bool>() ? "  internal" : "");
  for (const auto& [name, value] : topic["settings"].items()) {
    fmt::print("  {} = {}\n", name, value.get<std::string>());
  }
  Table table({">PARTITION", ">START", ">END", ">RECORDS"});
  for (const Json& partition : topic["partitions"]) {
    table.add({partition["partition"].dump(), partition["start"].dump(), partition["end"].dump(),
               partition["records"].dump()});
  }
  table.print();
}

void describe(const Options& options) {
  WireClient client(options.bootstrap);
  Json topics = Json::array();
  for (const TopicInfo& topic : describe_topics(client, options.names)) {
    if (options.names.empty() && topic.internal && !options.internal) continue;
    topics.push_back(describe_one(client, topic));
  }
  if (options.json) {
    fmt::print("{}\n", topics.dump(2));
    return;
  }
  for (size_t i = 0; i < topics.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print_topic(topics[i]);
  }
}

void add_partitions(WireClient& client, const std::string& topic, int32_t count) {
  std::vector<wire::CreatePartitionsRequest::Topic> topics{
      {.name = topic,
       .count = count,
       .assignments = wire::Array<wire::CreatePartitionsRequest::Assignment>::null()}};
  const auto answer = client.call<wire::CreatePartitionsResponse>(
      wire::CreatePartitionsRequest{.topics = array_of(topics), .timeout_ms = kTimeout_ms});
  for (const auto& result : answer->results) {
    check(result.error_code, fmt::format("topic {} keeps its partitions", topic),
          result.error_message);
  }
  fmt::print("{} has {} partitions\n", topic, count);
}

void alter_settings(WireClient& client, const std::string& topic, const Options& options) {
  const auto settings = parse_settings(options.configs);
  std::vector<wire::IncrementalAlterConfigsRequest::Config> configs;
  for (const Setting& setting : settings) {
    configs.push_back({setting.name, kOperationSet, setting.value});
  }
  for (const std::string& name : options.deleted_configs) {
    configs.push_back({name, kOperationDelete, std::nullopt});
  }
  std::vector<wire::IncrementalAlterConfigsRequest::Resource> resources{
      {kTopicResource, topic, array_of(configs)}};
  const auto answer = client.call<wire::IncrementalAlterConfigsResponse>(
      wire::IncrementalAlterConfigsRequest{.resources = array_of(resources)});
  for (const auto& result : answer->responses) {
    check(result.error_code, fmt::format("topic {} keeps its settings", topic),
          result.error_message);
  }
  for (const Setting& setting : settings) {
    fmt::print("{}: {} = {}\n", topic, setting.name, setting.value);
  }
  for (const std::string& name : options.deleted_configs) {
    fmt::print("{}: {} is the broker's again\n", topic, name);
  }
}

void alter(const Options& options) {
  const bool has_settings = !options.configs.empty() || !options.deleted_configs.empty();
  if (options.partitions < 0 && !has_settings) {
    fail_usage("topic alter: nothing to change; give --partitions, --config or --delete-config");
  }
  WireClient client(options.bootstrap);
  for (const std::string& name : options.names) {
    if (has_settings) alter_settings(client, name, options);
    if (options.partitions >= 0) add_partitions(client, name, options.partitions);
  }
}

void delete_topics(const Options& options) {
  std::vector<wire::DeleteTopicsRequest::Topic> topics;
  std::vector<std::string_view> names;
  for (const std::string& name : options.names) {
    topics.push_back({.name = name});
    names.push_back(name);
  }
  WireClient client(options.bootstrap);
  const auto answer = client.call<wire::DeleteTopicsResponse>(
      wire::DeleteTopicsRequest{.topics = array_of(topics),
                                .topic_names = array_of(names),
                                .timeout_ms = kTimeout_ms});
  for (const auto& topic : answer->responses) {
    const std::string_view name = topic.name.value_or("");
    const auto code = static_cast<ErrorCode>(topic.error_code);
    if (code == ErrorCode::unknown_topic_or_partition && options.tolerant) continue;
    check(topic.error_code, fmt::format("topic {} was not deleted", name), topic.error_message);
    fmt::print("deleted {}\n", name);
  }
}

CLI::App* add_command(CLI::App& parent, const char* name, const char* description,
                      const std::shared_ptr<Options>& options, void (*run)(const Options&)) {
  CLI::App* command = parent.add_subcommand(name, description);
  add_bootstrap(*command, options->bootstrap);
  command->callback([options, run] { run(*options); });
  return command;
}

}  // namespace

void add_topic(CLI::App& app) {
  CLI::App* topic = app.add_subcommand("topic", "Create, list, describe, alter, delete topics");
  topic->require_subcommand(1);
  const auto options = std::make_shared<Options>();

  CLI::App* command = add_command(*topic, "create", "Create topics", options, create);
  command->add_option("name", options->names, "Topics")->required();
  command->add_option("--partitions,-p", options->partitions, "How many (the broker's default)");
  command->add_option("--config,-c", options->configs, "A setting as name=value; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--if-not-exists", options->tolerant, "No error when it exists");

  command = add_command(*topic, "list", "List topics", options, list);
  command->add_flag("--internal", options->internal, "Also those of the broker itself");
  command->add_flag("--json", options->json, "As JSON");

  command = add_command(*topic, "describe", "Partitions, offsets, own settings", options, describe);
  command->add_option("name", options->names, "Topics (all)");
  command->add_flag("--internal", options->internal, "Also those of the broker itself");
  command->add_flag("--json", options->json, "As JSON");

  command = add_command(*topic, "alter", "Add partitions, change settings", options, alter);
  command->add_option("name", options->names, "Topics")->required();
  command->add_option("--partitions,-p", options->partitions, "The new, larger count");
  command->add_option("--config,-c", options->configs, "A setting as name=value; repeatable")
      ->allow_extra_args(false);
  command->add_option("--delete-config", options->deleted_configs,
                      "Back to the broker's default; repeatable")
      ->allow_extra_args(false);

  command = add_command(*topic, "delete", "Delete topics and their records", options,
                        delete_topics);
  command->add_option("name", options->names, "Topics")->required();
  command->add_flag("--if-exists", options->tolerant, "No error when it does not exist");
}

}  // namespace weir::tools
