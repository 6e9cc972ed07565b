#include "engine/group/append_errors.h"

namespace weir::group {

using model::ErrorCode;

// As Kafka translates them. Retrying may help while the log is not there; a record that is too
// large stays so. Whatever else a partition may say is passed on as it is, never as a timeout.
model::ErrorCode error_of_group_write(ErrorCode error) {
  if (error == ErrorCode::unknown_topic_or_partition || error == ErrorCode::request_timed_out ||
      error == ErrorCode::not_enough_replicas) {
    return ErrorCode::coordinator_not_available;
  }
  if (error == ErrorCode::not_leader_or_follower || error == ErrorCode::kafka_storage_error) {
    return ErrorCode::not_coordinator;
  }
  if (error == ErrorCode::message_too_large || error == ErrorCode::record_list_too_large) {
    return ErrorCode::group_max_size_reached;
  }
  return error;
}

model::ErrorCode error_of_offset_write(ErrorCode error) {
  if (error == ErrorCode::message_too_large || error == ErrorCode::record_list_too_large) {
    return ErrorCode::invalid_commit_offset_size;
  }
  return error_of_group_write(error);
}

}  // namespace weir::group
