#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/delete_groups.h"
#include "engine/wire/messages/describe_groups.h"
#include "engine/wire/messages/list_groups.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(DescribeGroups);
WEIR_WIRE_INSTANTIATE_API(ListGroups);
WEIR_WIRE_INSTANTIATE_API(DeleteGroups);

}  // namespace weir::wire
