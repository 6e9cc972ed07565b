// weir repair: an operator's word that damaged offsets are lost (engine/partition/give_up.h).

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "engine/partition/give_up.h"
#include "tools/weir/commands.h"
#include "tools/weir/failure.h"
#include "tools/weir/offline.h"

namespace weir::tools {
namespace {

using partition::Damage;
using partition::OffsetRange;

struct Options {
  std::string data;
  std::vector<std::string> ranges;
};

struct Order {
  std::string topic_partition;
  OffsetRange range;
};

int64_t parse_offset(const std::string& order, std::string_view digits) {
  int64_t value = -1;
  const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = fault == std::errc() && stop == digits.data() + digits.size();
  if (!whole || value < 0 || value == INT64_MAX) {
    fail_usage("--give-up {}: expected TOPIC-PARTITION:FROM-TO, both offsets among those lost",
               order);
  }
  return value;
}

Order parse_order(const std::string& text) {
  const size_t colon = text.rfind(':');
  const size_t dash = text.rfind('-');
  if (colon == std::string::npos || dash == std::string::npos || dash < colon) {
    parse_offset(text, "");
  }
  const std::string_view all(text);
  const int64_t from = parse_offset(text, all.substr(colon + 1, dash - colon - 1));
  const int64_t to = parse_offset(text, all.substr(dash + 1));
  return {text.substr(0, colon), {model::Offset(from), model::Offset(to + 1)}};
}

DataDirectory open_directory(io::CoreIo& core, const std::string& data) {
  const auto meta = read_meta(core, data);
  if (!meta) fail("{}", meta.error().detail);
  const auto catalog = read_catalog(core, data);
  if (!catalog) fail("{}", catalog.error().detail);
  return describe_directory(data, *meta, catalog->image);
}

// Which partition is meant, and all that is to go in it.
std::map<model::PartitionKey, std::vector<OffsetRange>> sort_orders(
    const DataDirectory& directory, const std::vector<std::string>& texts) {
  std::map<model::PartitionKey, std::vector<OffsetRange>> sorted;
  for (const std::string& text : texts) {
    const Order order = parse_order(text);
    const auto key = std::ranges::find(directory.shown, order.topic_partition,
                                       [](const auto& entry) { return entry.second; });
    if (key == directory.shown.end()) {
      fail("--give-up {}: there is no partition {}", text, order.topic_partition);
    }
    sorted[key->first].push_back(order.range);
  }
  return sorted;
}

void give_up(io::CoreIo& core, const DataDirectory& directory, const Options& options) {
  const auto orders = sort_orders(directory, options.ranges);
  auto recovered = recover(core, directory);
  if (!recovered) fail("{}", recovered.error().detail);
  for (const auto& [key, ranges] : orders) {
    const std::string& shown = directory.shown.at(key);
    const auto found = recovered->find(key);
    if (found == recovered->end()) fail("{} has no records", shown);
    partition::GiveUp work(core, directory.known.at(key));
    const auto given_up = work.run(found->second, ranges);
    if (!given_up) fail("{}: {}", shown, given_up.error().detail);
    for (const Damage& damage : *given_up) {
      fmt::print("{} {}..{} given up: {} bytes of segment {} at {} ({})\n", shown,
                 damage.base_offset.value(), damage.next_offset.value() - 1, damage.size,
                 damage.segment.base_offset.value(), damage.position, name(damage.kind));
      if (!damage.transactional) continue;
      fmt::print("  if the end of a transaction was among them it stays open: "
                 "kafka-transactions.sh find-hanging, then abort\n");
    }
  }
}

void list(io::CoreIo& core, const DataDirectory& directory) {
  auto recovered = recover(core, directory);
  if (!recovered) fail("{}", recovered.error().detail);
  size_t count = 0;
  for (const auto& [key, partition] : *recovered) {
    partition::Inspection inspection(core, directory.known.at(key));
    const auto damages = inspection.find_damage(partition);
    const std::string& shown = directory.shown.at(key);
    if (!damages) fail("{}: {}", shown, damages.error().detail);
    for (const Damage& damage : *damages) {
      fmt::print("{}:{}-{} lost ({}), {}..{} refused\n", shown, damage.base_offset.value(),
                 damage.next_offset.value() - 1, name(damage.kind), damage.refused_begin.value(),
                 damage.refused_end.value() - 1);
    }
    count += damages->size();
  }
  if (count == 0) fmt::print("nothing is damaged\n");
  else fmt::print("give up what is lost with --give-up TOPIC-PARTITION:FROM-TO, as written here\n");
}

void run(const Options& options) {
  const std::string data = normal_path(options.data);
  for (const std::string& text : options.ranges) parse_order(text);
  const Access access = options.ranges.empty() ? Access::look : Access::change;
  if (!std::filesystem::exists(data + "/" + std::string(catalog::kMetaFileName))) {
    fail_usage("{} is no data directory: it has no {}", data, catalog::kMetaFileName);
  }
  run_offline(data, access, [&](io::CoreIo& core) {
    const DataDirectory directory = open_directory(core, data);
    if (options.ranges.empty()) list(core, directory);
    else give_up(core, directory, options);
  });
}

}  // namespace

void add_repair(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "repair", "List damaged offsets of a stopped broker's data directory, or give them up");
  command->add_option("data", options->data, "Data directory; its broker is stopped")->required();
  command->add_option("--give-up", options->ranges,
                      "TOPIC-PARTITION:FROM-TO, lost for good: consumers go on behind them; may be "
                      "given several times")
      ->expected(1)
      ->take_all();
  command->callback([options] { run(*options); });
}

}  // namespace weir::tools
