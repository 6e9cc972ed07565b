#pragma once
// RdkafkaClient: one producer or consumer of librdkafka, with its settings; closed with the object.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/load/rdkafka_library.h"
#include "io/base/result.h"

namespace weir::load {

// What a run needs to know beyond its plan.
struct RdkafkaOptions {
  std::string bootstrap;
  int32_t linger_ms = 5;
  std::string group_prefix;  // readers are groups of this name and their number
  // Settings of librdkafka, after our own.
  std::vector<std::pair<std::string, std::string>> settings{};
};

class RdkafkaClient {
 public:
  struct Callbacks {
    void* opaque = nullptr;
    void (*on_delivery)(rd_kafka_t*, const rd_kafka_message_t*, void*) = nullptr;
    void (*on_rebalance)(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*,
                         void*) = nullptr;
  };
  using Settings = std::vector<std::pair<std::string, std::string>>;

  // Later settings win. The error is librdkafka's, which names the setting.
  static base::Result<std::unique_ptr<RdkafkaClient>> open(const RdkafkaLibrary& library,
                                                           rd_kafka_type_t type,
                                                           const Settings& settings,
                                                           const Callbacks& callbacks);
  ~RdkafkaClient() { library_.destroy(client_); }
  RdkafkaClient(const RdkafkaClient&) = delete;
  RdkafkaClient& operator=(const RdkafkaClient&) = delete;

  [[nodiscard]] rd_kafka_t* get() const { return client_; }

 private:
  RdkafkaClient(const RdkafkaLibrary& library, rd_kafka_t* client)
      : library_(library), client_(client) {}

  const RdkafkaLibrary& library_;
  rd_kafka_t* client_;
};

}  // namespace weir::load
