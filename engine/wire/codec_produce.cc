#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/produce.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(Produce);

}  // namespace weir::wire
