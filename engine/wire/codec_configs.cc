#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/alter_configs.h"
#include "engine/wire/messages/describe_configs.h"
#include "engine/wire/messages/incremental_alter_configs.h"
#include "engine/wire/messages/list_config_resources.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(DescribeConfigs);
WEIR_WIRE_INSTANTIATE_API(AlterConfigs);
WEIR_WIRE_INSTANTIATE_API(IncrementalAlterConfigs);
WEIR_WIRE_INSTANTIATE_API(ListConfigResources);

}  // namespace weir::wire
