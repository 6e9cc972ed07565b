#pragma once
// The planted bug of io: what engine/model/planted.h says of its own is true of this one, and it
// sets it. A constant in every build but that with WEIR_PLANTED_BUGS.

namespace weir::base {

#ifdef WEIR_PLANTED_BUGS
inline bool planted_short_write = false;  // a short write counts as a whole one
#else
inline constexpr bool planted_short_write = false;
#endif

}  // namespace weir::base
