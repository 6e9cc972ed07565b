#pragma once
// What cores ask of the catalog's owner (core 0), and what it tells every core. Messages are memory
// of their sender (io/mailbox.h).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/catalog/change.h"
#include "engine/catalog/config_ops.h"
#include "engine/catalog/topic_config.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "io/base/uuid.h"
#include "io/mailbox.h"

namespace weir::catalog {

// To port kCatalogChange of core 0. Comes back when the change is durable and every core serves it,
// or with the reason why nothing has changed.
class ChangeRequest : public io::Message {
 public:
  enum class Kind : uint8_t {
    create_topic,
    delete_topic,
    create_partitions,  // raises the partition count
    alter_topic_config,
    alter_broker_config,
    alter_client_quotas,
    alter_group_config,
  };

  // in
  Kind kind = Kind::create_topic;
  std::string name;                              // of the topic or, alter_group_config, the group;
                                                 // empty for brokers and quotas
  base::Uuid id;                                 // delete_topic: the topic of that id, unless zero
  int32_t partition_count = 0;                   // create_topic, create_partitions: the new total
  Overrides overrides;                           // create_topic
  std::vector<ConfigOp> ops;                     // alter_*; views must live until the reply
  bool replace = false;                          // alter_*: what ops do not name is set no more
  BrokerScope scope = BrokerScope::this_broker;  // alter_broker_config
  QuotaEntity quota_entity;                      // alter_client_quotas
  std::vector<QuotaOp> quota_ops;                // alter_client_quotas

  // out
  model::ErrorCode error = model::ErrorCode::none;
  std::string error_message;    // for the client; empty without error
  model::TopicSerial serial{};  // of the topic created, changed or deleted
  base::Uuid topic_id;
};

// From core 0 to port kCatalogApply of every core.
class ApplyUpdate : public io::Message {
 public:
  std::span<const Change> changes;  // core 0's, unchanged until the reply
};

// To port kProducerIds of core 0: reserves ids that nobody will ever get again.
class ProducerIdBlock : public io::Message {
 public:
  // out
  model::ErrorCode error = model::ErrorCode::none;
  model::ProducerId first{};
  int64_t count = 0;
};

}  // namespace weir::catalog
