#include "engine/handlers/fetch_plan.h"

#include <algorithm>

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kFirstVersionWithZstd = 10;
constexpr int16_t kFirstVersionWithTopicIds = 13;
constexpr int8_t kIsolationLevelMax = 1;

bool by_id(int16_t version) { return version >= kFirstVersionWithTopicIds; }

ErrorCode check_partition(const FetchTopic& topic, const wire::FetchRequest::Partition& in,
                          int16_t version) {
  if (topic.topic == nullptr) {
    return by_id(version) ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition;
  }
  if (in.partition < 0 || in.partition >= topic.topic->partition_count) {
    return ErrorCode::unknown_topic_or_partition;
  }
  if (in.partition_max_bytes < 0) return ErrorCode::invalid_request;
  if (version < kFirstVersionWithZstd &&
      topic.topic->config.compression_type == catalog::CompressionType::zstd) {
    return ErrorCode::unsupported_compression_type;
  }
  return ErrorCode::none;
}

}  // namespace

bool FetchPlan::build(const wire::FetchRequest& in, int16_t version, const Context& context,
                      base::Arena& arena) {
  if (!resolve_topics(in, version, context.catalog, arena) || !collect_entries(arena) ||
      !merge_duplicates(arena)) {
    return false;
  }
  check(in, version);
  return share_out(in, context, arena);
}

bool FetchPlan::resolve_topics(const wire::FetchRequest& in, int16_t version,
                               const catalog::Catalog& catalog, base::Arena& arena) {
  const size_t count = in.topics.size();
  FetchTopic* const all = arena.make_array<FetchTopic>(count);
  FetchTopic** const sorted = arena.make_array<FetchTopic*>(count);
  if (all == nullptr || sorted == nullptr) return false;
  topics = {all, count};
  for (size_t i = 0; i < count; ++i) {
    const auto& topic = in.topics[i];
    all[i] = {.in = &topic,
              .topic = by_id(version) ? catalog.find(topic.topic_id) : catalog.find(topic.topic),
              .first = static_cast<uint32_t>(i)};
    sorted[i] = &all[i];
  }
  if (count < 2) return true;
  // The same topic may stand in several places; the answer has one entry for it.
  const auto same = [&](const FetchTopic* a, const FetchTopic* b) {
    return a->in->topic_id == b->in->topic_id && a->in->topic == b->in->topic;
  };
  std::sort(sorted, sorted + count, [](const FetchTopic* a, const FetchTopic* b) {
    if (a->in->topic_id != b->in->topic_id) return a->in->topic_id < b->in->topic_id;
    if (a->in->topic != b->in->topic) return a->in->topic < b->in->topic;
    return a < b;
  });
  for (size_t i = 1; i < count; ++i) {
    if (same(sorted[i - 1], sorted[i])) sorted[i]->first = sorted[i - 1]->first;
  }
  return true;
}

bool FetchPlan::collect_entries(base::Arena& arena) {
  size_t count = 0;
  for (const FetchTopic& topic : topics) count += topic.in->partitions.size();
  FetchEntry* const all = arena.make_array<FetchEntry>(count);
  if (all == nullptr) return false;
  entries = {all, count};
  size_t next = 0;
  for (const FetchTopic& topic : topics) {
    for (const auto& partition : topic.in->partitions) {
      entries[next++] = {.in = &partition, .topic = topic.first};
    }
  }
  return true;
}

bool FetchPlan::merge_duplicates(base::Arena& arena) {
  const auto less = [](const FetchEntry& a, const FetchEntry& b) {
    if (a.topic != b.topic) return a.topic < b.topic;
    return a.in->partition < b.in->partition;
  };
  const auto not_less = [&](const FetchEntry& a, const FetchEntry& b) { return !less(a, b); };
  // Usually strictly ascending already: then nothing is named twice.
  if (std::adjacent_find(entries.begin(), entries.end(), not_less) == entries.end()) return true;
  FetchEntry** const sorted = arena.make_array<FetchEntry*>(entries.size());
  if (sorted == nullptr) return false;
  for (size_t i = 0; i < entries.size(); ++i) sorted[i] = &entries[i];
  std::sort(sorted, sorted + entries.size(), [&](const FetchEntry* a, const FetchEntry* b) {
    if (less(*a, *b)) return true;
    return !less(*b, *a) && a < b;
  });
  FetchEntry* kept = sorted[0];
  for (size_t i = 1; i < entries.size(); ++i) {
    if (less(*kept, *sorted[i])) {
      kept = sorted[i];
    } else {
      kept->in = sorted[i]->in;
      sorted[i]->in = nullptr;
    }
  }
  const auto end = std::remove_if(entries.begin(), entries.end(),
                                  [](const FetchEntry& entry) { return entry.in == nullptr; });
  entries = entries.first(static_cast<size_t>(end - entries.begin()));
  return true;
}

void FetchPlan::check(const wire::FetchRequest& in, int16_t version) {
  const bool bad_request = in.max_bytes < 0 || in.isolation_level < 0 ||
                           in.isolation_level > kIsolationLevelMax;
  const bool follower = in.replica_id >= 0 || in.replica_state.replica_id >= 0;
  for (FetchEntry& entry : entries) {
    ++topics[entry.topic].entry_count;
    entry.error = bad_request ? ErrorCode::invalid_request
                              : check_partition(topics[entry.topic], *entry.in, version);
    if (entry.error == ErrorCode::none && follower) {
      entry.error = ErrorCode::not_leader_or_follower;  // no partition has a replica elsewhere
    }
  }
}

bool FetchPlan::share_out(const wire::FetchRequest& in, const Context& context,
                          base::Arena& arena) {
  const uint16_t core_count = context.io.core_count;
  const auto home = [&](const FetchEntry& entry) {
    return context.catalog.home_core(*topics[entry.topic].topic,
                                     model::PartitionIndex(entry.in->partition));
  };
  size_t* const counts = arena.make_array<size_t>(core_count);
  auto* const all_shares = arena.make_array<FetchShare>(core_count);
  if (counts == nullptr || all_shares == nullptr) return false;
  uint64_t wanted = 0;  // what the partitions' own limits allow together
  for (const FetchEntry& entry : entries) {
    if (entry.error != ErrorCode::none) continue;
    ++counts[home(entry).value()];
    wanted += static_cast<uint64_t>(entry.in->partition_max_bytes);
  }
  size_max = static_cast<uint64_t>(
      std::clamp(in.max_bytes, 0, context.config.fetch_size_max));
  size_t share_count = 0;
  for (uint16_t core = 0; core < core_count; ++core) {
    if (counts[core] == 0) continue;
    auto* const items = arena.make_array<partition::ReadItem>(counts[core]);
    if (items == nullptr) return false;
    all_shares[share_count] = {.core = io::CoreIndex(core), .items = {items, 0}};
    counts[core] = share_count++;
  }
  shares = {all_shares, share_count};
  for (FetchEntry& entry : entries) {
    if (entry.error != ErrorCode::none) continue;
    FetchShare& share = shares[counts[home(entry).value()]];
    share.items = {share.items.data(), share.items.size() + 1};
    entry.item = &share.items.back();
    share.size_max += static_cast<uint64_t>(entry.in->partition_max_bytes);
    partition::ReadItem& item = *entry.item;
    item.key = {topics[entry.topic].topic->serial, model::PartitionIndex(entry.in->partition)};
    item.fetch_offset = model::Offset(entry.in->fetch_offset);
    item.size_max = static_cast<uint32_t>(entry.in->partition_max_bytes);
    item.current_leader_epoch = std::max(entry.in->current_leader_epoch, -1);
    item.last_fetched_epoch = std::max(entry.in->last_fetched_epoch, -1);
    item.read_committed = in.isolation_level == kIsolationLevelMax;
  }
  // Where the limit of the response is the tighter one, each core gets its part of it.
  for (FetchShare& share : shares) {
    if (share_count == 1 || wanted <= size_max) {
      share.size_max = size_max;
    } else {
      share.size_max = static_cast<uint64_t>(static_cast<double>(size_max) *
                                             (static_cast<double>(share.size_max) /
                                              static_cast<double>(wanted)));
    }
  }
  return true;
}

}  // namespace weir::handlers
