#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/fetch.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(Fetch);

}  // namespace weir::wire
