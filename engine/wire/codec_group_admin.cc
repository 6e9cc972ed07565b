#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/consumer_group_describe.h"
#include "engine/wire/messages/delete_groups.h"
#include "engine/wire/messages/describe_groups.h"
#include "engine/wire/messages/list_groups.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(DescribeGroups);
WEIR_WIRE_INSTANTIATE_API(ListGroups);
WEIR_WIRE_INSTANTIATE_API(DeleteGroups);
WEIR_WIRE_INSTANTIATE_API(ConsumerGroupDescribe);

}  // namespace weir::wire
