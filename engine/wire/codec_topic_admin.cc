#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/create_partitions.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/delete_records.h"
#include "engine/wire/messages/delete_topics.h"
#include "engine/wire/messages/describe_log_dirs.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(CreateTopics);
WEIR_WIRE_INSTANTIATE_API(DeleteTopics);
WEIR_WIRE_INSTANTIATE_API(CreatePartitions);
WEIR_WIRE_INSTANTIATE_API(DeleteRecords);
WEIR_WIRE_INSTANTIATE_API(DescribeLogDirs);

}  // namespace weir::wire
