#include "engine/wire/codec_impl.h"
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

}  // namespace weir::wire
