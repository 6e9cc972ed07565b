#pragma once
// One change of the catalog, as it is stored in catalog.log and told to every core; encoding to the
// byte.
//
// All integers are little-endian. A change:
//
//   u8   kind
//   u8   flags       bit 0: internal topic (create_topic); scope (set_broker_config); else zero
//   u16  zero
//   u32  size of what follows
//   ...  by kind:
//        create_topic        u32 serial, 16 bytes id, i32 partition count, text name, overrides
//        delete_topic        u32 serial
//        set_partition_count u32 serial, i32 partition count
//        set_topic_config    u32 serial, overrides
//        set_broker_config   overrides
//        set_client_quotas   u8 kind of user (0 absent, 1 any, 2 named), text user, the same of the
//                            client id, u32 count, then (text key, f64 value) sorted by key
//        set_group_config    text group id, overrides
//        reserve             u32 next topic serial, i64 next producer id
//
// text: u16 size, bytes. overrides: u32 count, then (text name, text value) sorted by name; always
// the complete set that holds from then on, and so are quotas. Counters of `reserve` never go down.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/catalog/client_quotas.h"
#include "engine/catalog/topic_config.h"
#include "engine/model/ids.h"
#include "io/base/result.h"
#include "io/base/uuid.h"

namespace weir::catalog {

enum class ChangeKind : uint8_t {
  create_topic = 1,
  delete_topic = 2,
  set_partition_count = 3,
  set_topic_config = 4,
  set_broker_config = 5,
  reserve = 6,
  set_client_quotas = 7,
  set_group_config = 8,
};

enum class BrokerScope : uint8_t { every_broker = 0, this_broker = 1 };

struct Change {
  ChangeKind kind = ChangeKind::reserve;
  model::TopicSerial serial{};  // of the topic
  base::Uuid id{};              // create_topic
  std::string name{};           // create_topic; set_group_config: of the group
  int32_t partition_count = 0;  // create_topic, set_partition_count: the new total
  bool internal = false;        // create_topic
  BrokerScope scope = BrokerScope::every_broker;  // set_broker_config
  Overrides overrides{};                 // create_topic, set_*_config; of a group empty: none left
  QuotaEntity quota_entity{};            // set_client_quotas
  QuotaValues quotas{};                  // set_client_quotas; empty: none are left
  model::TopicSerial next_serial{};      // reserve
  model::ProducerId next_producer_id{};  // reserve

  bool operator==(const Change&) const = default;
};

// What rebuilds a catalog: topics in the order of their serials, overrides of the broker and of
// groups, quotas; and the counters.
struct CatalogImage {
  std::vector<Change> changes;            // no `reserve`
  model::TopicSerial next_serial{1};      // first serial never given away
  model::ProducerId next_producer_id{0};  // first producer id never reserved

  bool operator==(const CatalogImage&) const = default;
};

void encode_change(const Change& change, std::vector<std::byte>& out);

// The changes of one record's payload. An error says what does not hold, for a log whose checksums
// are right but which this version cannot have written.
base::Result<std::vector<Change>> decode_changes(std::span<const std::byte> payload);

}  // namespace weir::catalog
