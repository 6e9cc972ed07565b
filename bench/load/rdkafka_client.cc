#include "bench/load/rdkafka_client.h"

#include <fmt/format.h>

namespace weir::load {
namespace {

// Warnings of the library would run through the progress bar; errors come with the results.
void drop_log(const rd_kafka_t*, int, const char*, const char*) {}

}  // namespace

base::Result<std::unique_ptr<RdkafkaClient>> RdkafkaClient::open(const RdkafkaLibrary& library,
                                                                 rd_kafka_type_t type,
                                                                 const Settings& settings,
                                                                 const Callbacks& callbacks) {
  char reason[512] = {};
  rd_kafka_conf_t* const conf = library.conf_new();
  for (const auto& [name, value] : settings) {
    if (library.conf_set(conf, name.c_str(), value.c_str(), reason, sizeof reason) !=
        RD_KAFKA_CONF_OK) {
      library.conf_destroy(conf);
      return base::error(0, fmt::format("librdkafka {}: {}", library.version(), reason));
    }
  }
  library.conf_set_opaque(conf, callbacks.opaque);
  library.conf_set_log_cb(conf, drop_log);
  if (callbacks.on_delivery) library.conf_set_dr_msg_cb(conf, callbacks.on_delivery);
  if (callbacks.on_rebalance) library.conf_set_rebalance_cb(conf, callbacks.on_rebalance);
  rd_kafka_t* const client = library.new_client(type, conf, reason, sizeof reason);
  if (client == nullptr) {
    library.conf_destroy(conf);
    return base::error(0, fmt::format("librdkafka {}: {}", library.version(), reason));
  }
  return std::unique_ptr<RdkafkaClient>(new RdkafkaClient(library, client));
}

}  // namespace weir::load
