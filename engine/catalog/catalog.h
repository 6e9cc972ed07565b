#pragma once
// Catalog: which topics exist and how they are set. One replica on every core, changed only by
// updates from core 0 (catalog_writer.h), in the same order everywhere; handlers read it freely.
//
// Lifetime: a Topic pointer is good until the core's loop runs again; whoever waits keeps the
// serial and looks the topic up anew. A serial is never given to another topic, so a stale one
// finds nothing.

#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/catalog/change.h"
#include "engine/catalog/config.h"
#include "engine/catalog/placement.h"
#include "engine/catalog/topic_config.h"
#include "engine/model/ids.h"
#include "engine/partition/cleaner_config.h"
#include "io/base/uuid.h"

namespace weir::catalog {

struct Topic {
  std::string name{};
  base::Uuid id{};
  model::TopicSerial serial{};
  int32_t partition_count = 0;
  bool internal = false;    // __consumer_offsets and the like: clients may not write to it
  uint32_t first_core = 0;  // placement.h
  TopicConfig config{};     // effective values
  Overrides overrides{};    // what was set on the topic, verbatim
};

// What the rest of a core does when the catalog changed. Called after the replica has the change.
class CatalogListener {
 public:
  // `later`: the listener will call CatalogApplier::complete() once it is done; until then core 0
  // holds back the answer to the client and all further changes.
  enum class Done : uint8_t { now, later };

  virtual ~CatalogListener() = default;
  virtual Done on_topic_created(const Topic& topic) = 0;
  virtual Done on_partitions_added(const Topic& topic, int32_t old_count) = 0;
  // The topic is no longer found in the catalog; `topic` lives until the listener is done.
  virtual Done on_topic_deleted(const Topic& topic) = 0;
  virtual Done on_topic_config_changed(const Topic& topic) = 0;
  // Overrides of broker settings changed. Topics whose effective values changed are told before.
  virtual Done on_broker_config_changed() { return Done::now; }
};

class Catalog {
 public:
  // settings: of the file and command line; outlives the catalog. `image`: the state to begin with,
  // as catalog_log.h read it or another Catalog's image() gives it.
  Catalog(const Settings& settings, uint16_t core_count, const CatalogImage& image = {});
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  const Topic* find(std::string_view name) const;
  const Topic* find(const base::Uuid& id) const;
  const Topic* find(model::TopicSerial serial) const;

  // All topics as const Topic&, sorted by name.
  auto topics() const {
    return topics_ |
           std::views::transform([](const auto& entry) -> const Topic& { return *entry.second; });
  }
  // Topics whose name is not less than `name`, sorted.
  auto topics_from(std::string_view name) const {
    return std::ranges::subrange(topics_.lower_bound(name), topics_.end()) |
           std::views::transform([](const auto& entry) -> const Topic& { return *entry.second; });
  }
  size_t topic_count() const { return topics_.size(); }
  int64_t partition_count() const { return partition_count_; }
  // Updates from core 0 that this replica has taken.
  int64_t update_count() const { return update_count_; }

  // Another topic whose name differs only in `.` against `_`; nullptr when there is none.
  const Topic* find_collision(std::string_view name) const;

  io::CoreIndex home_core(const Topic& topic, model::PartitionIndex partition) const {
    return catalog::home_core(topic, partition, placement_.core_count());
  }

  const Settings& settings() const { return settings_; }
  // Broker settings changed while running: for this broker, and for every broker of the cluster.
  const Overrides& broker_overrides(BrokerScope scope) const {
    return scope == BrokerScope::this_broker ? broker_overrides_ : cluster_overrides_;
  }
  const ClientQuotas& client_quotas() const { return client_quotas_; }
  // Settings of single groups, by group id; a group need not exist to have some.
  const GroupConfigs& group_configs() const { return group_configs_; }
  // Of one group; empty when it has none.
  const Overrides& group_overrides(std::string_view group_id) const;
  // Defaults of topics with these overrides applied.
  const TopicConfig& topic_defaults() const { return topic_defaults_; }
  // Settings of compaction, given as file and command line have them, likewise.
  void apply_overrides(partition::CleanerConfig& config) const;

  // The state as changes that rebuild it, in the order of creation.
  CatalogImage image() const;

  // --- for CatalogApplier
  // -------------------------------------------------------------------------

  void count_update() { ++update_count_; }
  const Topic& create(const Change& change);
  // The old partition count.
  int32_t set_partition_count(const Change& change);
  // The topic, out of every index.
  std::unique_ptr<Topic> remove(model::TopicSerial serial);
  const Topic& set_topic_overrides(const Change& change);
  // Serials of the topics whose effective values changed, ascending.
  std::vector<model::TopicSerial> set_broker_overrides(const Change& change);
  void set_client_quotas(const Change& change);
  void set_group_overrides(const Change& change);

 private:
  Topic& topic_of(model::TopicSerial serial);
  TopicConfig effective_config(const Topic& topic) const;
  void recompute_defaults();

  const Settings& settings_;
  Placement placement_;
  std::map<std::string_view, std::unique_ptr<Topic>> topics_;  // keys view the topics' names
  std::unordered_map<base::Uuid, Topic*> by_id_;
  std::map<model::TopicSerial, Topic*> by_serial_;  // in the order of creation
  std::unordered_map<std::string, Topic*> by_collision_key_;
  int64_t partition_count_ = 0;
  int64_t update_count_ = 0;
  Overrides broker_overrides_;
  Overrides cluster_overrides_;
  ClientQuotas client_quotas_;
  GroupConfigs group_configs_;
  TopicConfig topic_defaults_;
};

}  // namespace weir::catalog
