#include "engine/handlers/alter_replica_log_dirs.h"

#include <map>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/alter_replica_log_dirs.h"

namespace weir::handlers {

using model::ErrorCode;
using wire::AlterReplicaLogDirsRequest;
using Response = wire::AlterReplicaLogDirsResponse;

namespace {

using Results = std::map<std::string_view, std::map<int32_t, ErrorCode>>;

ErrorCode verdict(const Context& context, std::string_view path, std::string_view name,
                  int32_t partition) {
  if (path != context.node.log_dir) return ErrorCode::log_dir_not_found;
  const catalog::Topic* const topic = context.catalog.find(name);
  const bool here = topic != nullptr && partition >= 0 && partition < topic->partition_count;
  return here ? ErrorCode::none : ErrorCode::replica_not_available;
}

// False: the arena is full.
bool fill(const Results& results, base::Arena& arena, Response& out) {
  out.results = wire::make_array<Response::Topic>(arena, results.size());
  if (out.results.is_null()) return false;
  size_t next = 0;
  for (const auto& [name, partitions] : results) {
    Response::Topic& topic = out.results[next++];
    topic.topic_name = name;
    topic.partitions = wire::make_array<Response::Partition>(arena, partitions.size());
    if (topic.partitions.is_null()) return false;
    size_t next_partition = 0;
    for (const auto& [partition, error] : partitions) {
      topic.partitions[next_partition++] = {.partition_index = partition,
                                            .error_code = static_cast<int16_t>(error)};
    }
  }
  return true;
}

}  // namespace

void start_alter_replica_log_dirs(Request& request) {
  AlterReplicaLogDirsRequest in;
  if (!request.decode(in)) return;
  // A partition that is sent to several directories goes to the last one, as in Kafka.
  Results results;
  for (const auto& dir : in.dirs) {
    for (const auto& topic : dir.topics) {
      for (const int32_t partition : topic.partitions) {
        results[topic.name][partition] =
            verdict(request.context(), dir.path, topic.name, partition);
      }
    }
  }
  Response out;
  if (!fill(results, request.arena(), out)) {
    return request.close_connection("request too large for its memory");
  }
  request.respond(out);
}

}  // namespace weir::handlers
