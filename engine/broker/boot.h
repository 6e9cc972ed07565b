#pragma once
// What core 0 hands every core at start and what it asks of them at the end (model/ports.h:
// kControl).

#include <map>
#include <string>
#include <vector>

#include "engine/catalog/change.h"
#include "engine/handlers/context.h"
#include "engine/journal/record.h"
#include "engine/partition/partition.h"
#include "io/base/result.h"
#include "io/mailbox.h"

namespace weir::broker {

// What every core needs of the start; core 0's, unchanged while the broker lives.
struct BootData {
  catalog::CatalogImage image;
  handlers::NodeIdentity node;
  uint64_t journal_generation = 0;
};

// To each core, at start, at the opening of the port, at stop, and for metrics.
class ControlCall : public io::Message {
 public:
  enum class Kind : uint8_t {
    boot,        // build partitions and groups, carry what recovery found into the new journal
    serve,       // listen
    stop,        // no new connections; what is under way between cores comes to its end
    flush,       // once every core has stopped: everything durable, journal closed
    end_loop,    // leave the loop; never answered before the loop ends
    metrics,     // add to `snapshot`
    device_failed,  // a core tells core 0: nothing more is acknowledged; `status` says why
  };
  Kind kind = Kind::boot;
  // boot, in
  const BootData* data = nullptr;
  std::map<model::PartitionKey, partition::Recovered> recovered;
  std::string journal_path;
  journal::LogId log_id;
  // serve: where to listen, in; with the ports that were given, out of core 0
  std::vector<io::Address> addresses;
  // out
  base::Status status;
  void* snapshot = nullptr;  // metrics: a MetricsSnapshot of the asking core to add to
};

}  // namespace weir::broker
