#pragma once
// DescribeLogDirs (KIP-113, KIP-827): how large partitions are on disk; one directory holds
// them all.

namespace weir::handlers {

class Request;

void start_describe_log_dirs(Request& request);

}  // namespace weir::handlers
