#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/alter_client_quotas.h"
#include "engine/wire/messages/alter_partition_reassignments.h"
#include "engine/wire/messages/alter_replica_log_dirs.h"
#include "engine/wire/messages/describe_client_quotas.h"
#include "engine/wire/messages/describe_quorum.h"
#include "engine/wire/messages/elect_leaders.h"
#include "engine/wire/messages/list_partition_reassignments.h"
#include "engine/wire/messages/update_features.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(AlterReplicaLogDirs);
WEIR_WIRE_INSTANTIATE_API(ElectLeaders);
WEIR_WIRE_INSTANTIATE_API(AlterPartitionReassignments);
WEIR_WIRE_INSTANTIATE_API(ListPartitionReassignments);
WEIR_WIRE_INSTANTIATE_API(DescribeClientQuotas);
WEIR_WIRE_INSTANTIATE_API(AlterClientQuotas);
WEIR_WIRE_INSTANTIATE_API(DescribeQuorum);
WEIR_WIRE_INSTANTIATE_API(UpdateFeatures);

}  // namespace weir::wire
