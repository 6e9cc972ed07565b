#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/api_versions.h"
#include "engine/wire/messages/describe_cluster.h"
#include "engine/wire/messages/describe_topic_partitions.h"
#include "engine/wire/messages/metadata.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(Metadata);
WEIR_WIRE_INSTANTIATE_API(ApiVersions);
WEIR_WIRE_INSTANTIATE_API(DescribeCluster);
WEIR_WIRE_INSTANTIATE_API(DescribeTopicPartitions);

}  // namespace weir::wire
