#pragma once
// The planted bugs of io: what engine/model/planted.h says of its own is true of these, and it sets
// them. Constants in every build but that with WEIR_PLANTED_BUGS.

namespace weir::base {

#ifdef WEIR_PLANTED_BUGS
inline bool planted_short_write = false;   // a short write counts as a whole one
inline bool planted_slot_at_once = false;  // a slot's timers fire where they should be sorted
#else
inline constexpr bool planted_short_write = false;
inline constexpr bool planted_slot_at_once = false;
#endif

}  // namespace weir::base
