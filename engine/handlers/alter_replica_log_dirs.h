#pragma once
// AlterReplicaLogDirs (KIP-113): there is one directory, and everything is in it already.

namespace weir::handlers {

class Request;

void start_alter_replica_log_dirs(Request& request);

}  // namespace weir::handlers
