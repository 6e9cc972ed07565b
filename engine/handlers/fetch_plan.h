#pragma once
// FetchPlan: what a Fetch request asks for, resolved and merged, and which home core reads what.
//
// Everything lies in the request's arena. Entries keep the order of the request, because the first
// partition with data always gets a batch. A partition named twice has one entry: the place of the
// first, the parameters of the last, as in Kafka.

#include <cstdint>
#include <span>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/model/error_code.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/fetch.h"
#include "io/base/arena.h"
#include "io/mailbox.h"

namespace weir::handlers {

struct FetchTopic {
  const wire::FetchRequest::Topic* in = nullptr;
  const catalog::Topic* topic = nullptr;  // while the plan is built; null: unknown
  uint32_t first = 0;           // the first topic of the request that is the same as this one
  uint32_t entry_count = 0;     // of all topics that are the same, at the first of them
};

struct FetchEntry {
  const wire::FetchRequest::Partition* in = nullptr;
  uint32_t topic = 0;           // index of its FetchTopic, always a `first`
  model::ErrorCode error = model::ErrorCode::none;  // known here, without asking the home core
  partition::ReadItem* item = nullptr;              // null with error
};

// What one home core reads.
struct FetchShare {
  io::CoreIndex core;
  std::span<partition::ReadItem> items;
  uint64_t size_max = 0;
};

struct FetchPlan {
  std::span<FetchTopic> topics;
  std::span<FetchEntry> entries;
  std::span<FetchShare> shares;  // cores with at least one item
  uint64_t size_max = 0;         // bytes of records in the response

  // False: the arena is full.
  [[nodiscard]] bool build(const wire::FetchRequest& in, int16_t version, const Context& context,
                           base::Arena& arena);

 private:
  [[nodiscard]] bool resolve_topics(const wire::FetchRequest& in, int16_t version,
                                    const catalog::Catalog& catalog, base::Arena& arena);
  [[nodiscard]] bool collect_entries(base::Arena& arena);
  [[nodiscard]] bool merge_duplicates(base::Arena& arena);
  void check(const wire::FetchRequest& in, int16_t version);
  [[nodiscard]] bool share_out(const wire::FetchRequest& in, const Context& context,
                               base::Arena& arena);
};

}  // namespace weir::handlers
