#pragma once
// RdkafkaLibrary: librdkafka, loaded when it is asked for. The program is not linked with it: a
// broker should not start slower, or not at all, for the sake of a benchmark's second client.
//
// The types come from its header; every function is a member, called like the C function without
// its prefix: library.new_client(...) is rd_kafka_new.

#include <librdkafka/rdkafka.h>

#include "io/base/result.h"

namespace weir::load {

// member, function without rd_kafka_
#define WEIR_RDKAFKA_FUNCTIONS(X)                             \
  X(new_client, new)                                          \
  X(destroy, destroy)                                         \
  X(version, version_str)                                     \
  X(error_name, err2name)                                     \
  X(last_error, last_error)                                   \
  X(conf_new, conf_new)                                       \
  X(conf_destroy, conf_destroy)                               \
  X(conf_set, conf_set)                                       \
  X(conf_set_opaque, conf_set_opaque)                         \
  X(conf_set_dr_msg_cb, conf_set_dr_msg_cb)                   \
  X(conf_set_rebalance_cb, conf_set_rebalance_cb)             \
  X(conf_set_log_cb, conf_set_log_cb)                         \
  X(topic_new, topic_new)                                     \
  X(topic_destroy, topic_destroy)                             \
  X(produce, produce)                                         \
  X(poll, poll)                                               \
  X(flush, flush)                                             \
  X(outq_len, outq_len)                                       \
  X(purge, purge)                                             \
  X(poll_set_consumer, poll_set_consumer)                     \
  X(subscribe, subscribe)                                     \
  X(assign, assign)                                           \
  X(consumer_poll, consumer_poll)                             \
  X(consumer_close, consumer_close)                           \
  X(message_destroy, message_destroy)                         \
  X(list_new, topic_partition_list_new)                       \
  X(list_add, topic_partition_list_add)                       \
  X(list_destroy, topic_partition_list_destroy)

class RdkafkaLibrary {
 public:
  // The error says what is missing and how to get it. Stays loaded.
  static base::Result<RdkafkaLibrary> load();

#define WEIR_RDKAFKA_MEMBER(member, function) decltype(&rd_kafka_##function) member = nullptr;
  WEIR_RDKAFKA_FUNCTIONS(WEIR_RDKAFKA_MEMBER)
#undef WEIR_RDKAFKA_MEMBER

 private:
  RdkafkaLibrary() = default;
};

}  // namespace weir::load
