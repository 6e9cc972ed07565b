#include "engine/wire/codec_impl.h"
#include "engine/wire/records/consumer_group.h"
#include "engine/wire/records/group_metadata.h"
#include "engine/wire/records/offset_commit.h"
#include "engine/wire/records/transaction_state.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE(OffsetCommitKey);
WEIR_WIRE_INSTANTIATE(OffsetCommitValue);
WEIR_WIRE_INSTANTIATE(GroupMetadataKey);
WEIR_WIRE_INSTANTIATE(GroupMetadataValue);
WEIR_WIRE_INSTANTIATE(TransactionLogKey);
WEIR_WIRE_INSTANTIATE(TransactionLogValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupMetadataKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupMetadataValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupPartitionMetadataKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupMemberMetadataKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupMemberMetadataValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupTargetAssignmentMetadataKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupTargetAssignmentMetadataValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupTargetAssignmentMemberKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupTargetAssignmentMemberValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupCurrentMemberAssignmentKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupCurrentMemberAssignmentValue);
WEIR_WIRE_INSTANTIATE(ConsumerGroupRegularExpressionKey);
WEIR_WIRE_INSTANTIATE(ConsumerGroupRegularExpressionValue);

}  // namespace weir::wire
