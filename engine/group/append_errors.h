#pragma once
// What a failed append to the group log means to the client that waits for it: the one place where
// partition errors become group errors.

#include "engine/model/error_code.h"

namespace weir::group {

// For JoinGroup, SyncGroup, DeleteGroups.
[[nodiscard]] model::ErrorCode error_of_group_write(model::ErrorCode error);
// For OffsetCommit.
[[nodiscard]] model::ErrorCode error_of_offset_write(model::ErrorCode error);

}  // namespace weir::group
