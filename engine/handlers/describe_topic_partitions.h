#pragma once
// DescribeTopicPartitions (KIP-966): topics by name, a page of partitions at a time; the cursor
// says where the next page begins.

namespace weir::handlers {

class Request;

void start_describe_topic_partitions(Request& request);

}  // namespace weir::handlers
