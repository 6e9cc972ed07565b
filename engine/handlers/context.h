#pragma once
// Context: what a handler may touch. One per core, built by broker::Core, which outlives every
// connection of the core. Partitions and groups are reached by messages only: their home core comes
// from catalog/placement.h, the port from model/ports.h, the way there is io.mailboxes.

#include <cstdint>
#include <span>
#include <string>

#include "engine/handlers/config.h"
#include "engine/handlers/metrics.h"
#include "engine/model/setting.h"
#include "io/core_io.h"

namespace weir::catalog {
class Catalog;
class ProducerIds;
}
namespace weir::log {
class BatchValidator;
}

namespace weir::handlers {

class Request;

// Who this node is; fixed at start, equal on all cores.
struct NodeIdentity {
  int32_t node_id = 1;
  std::string cluster_id;
  io::Address advertised;    // empty host: the address the client connected to
  int32_t leader_epoch = 0;  // of every partition: this start of the node (model::Incarnation)
  std::string log_dir;       // absolute path of the directory of all data
  int64_t catalog_offset = 0;  // records of the catalog's log before this start
};

struct Context {
  io::CoreIo& io;
  catalog::Catalog& catalog;  // this core's replica
  catalog::ProducerIds& producer_ids;  // of this core
  log::BatchValidator& validator;
  const NodeIdentity& node;
  std::span<const model::SettingInfo> broker_settings;  // sorted by name, for DescribeConfigs
  const Config& config;
  Metrics& metrics;

  // What to tell the client of this request to connect to, so that containers and port forwards
  // just work: the configured address, else the one the client itself connected to.
  [[nodiscard]] const io::Address& advertised_to(const Request& request) const;
};

}  // namespace weir::handlers
