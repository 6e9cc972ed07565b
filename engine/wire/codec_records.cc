#include "engine/wire/codec_impl.h"
#include "engine/wire/records/group_metadata.h"
#include "engine/wire/records/offset_commit.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE(OffsetCommitKey);
WEIR_WIRE_INSTANTIATE(OffsetCommitValue);
WEIR_WIRE_INSTANTIATE(GroupMetadataKey);
WEIR_WIRE_INSTANTIATE(GroupMetadataValue);

}  // namespace weir::wire
