#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/list_offsets.h"
#include "engine/wire/messages/offset_commit.h"
#include "engine/wire/messages/offset_delete.h"
#include "engine/wire/messages/offset_fetch.h"
#include "engine/wire/messages/offset_for_leader_epoch.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(ListOffsets);
WEIR_WIRE_INSTANTIATE_API(OffsetCommit);
WEIR_WIRE_INSTANTIATE_API(OffsetFetch);
WEIR_WIRE_INSTANTIATE_API(OffsetForLeaderEpoch);
WEIR_WIRE_INSTANTIATE_API(OffsetDelete);

}  // namespace weir::wire
