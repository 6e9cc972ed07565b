#include "engine/model/error_code.h"

#include <array>
#include <cstddef>

namespace weir::model {

namespace {

struct Row {
  ErrorCode code;
  std::string_view name;
  bool retriable;
};

constexpr bool kRetriable = true;
constexpr bool kFinal = false;

using enum ErrorCode;

constexpr std::array kRows = {
    Row{unknown_server_error, "UNKNOWN_SERVER_ERROR", kFinal},
    Row{none, "NONE", kFinal},
    Row{offset_out_of_range, "OFFSET_OUT_OF_RANGE", kFinal},
    Row{corrupt_message, "CORRUPT_MESSAGE", kRetriable},
    Row{unknown_topic_or_partition, "UNKNOWN_TOPIC_OR_PARTITION", kRetriable},
    Row{invalid_fetch_size, "INVALID_FETCH_SIZE", kFinal},
    Row{leader_not_available, "LEADER_NOT_AVAILABLE", kRetriable},
    Row{not_leader_or_follower, "NOT_LEADER_OR_FOLLOWER", kRetriable},
    Row{request_timed_out, "REQUEST_TIMED_OUT", kRetriable},
    Row{broker_not_available, "BROKER_NOT_AVAILABLE", kFinal},
    Row{replica_not_available, "REPLICA_NOT_AVAILABLE", kRetriable},
    Row{message_too_large, "MESSAGE_TOO_LARGE", kFinal},
    Row{stale_controller_epoch, "STALE_CONTROLLER_EPOCH", kFinal},
    Row{offset_metadata_too_large, "OFFSET_METADATA_TOO_LARGE", kFinal},
    Row{network_exception, "NETWORK_EXCEPTION", kRetriable},
    Row{coordinator_load_in_progress, "COORDINATOR_LOAD_IN_PROGRESS", kRetriable},
    Row{coordinator_not_available, "COORDINATOR_NOT_AVAILABLE", kRetriable},
    Row{not_coordinator, "NOT_COORDINATOR", kRetriable},
    Row{invalid_topic_exception, "INVALID_TOPIC_EXCEPTION", kFinal},
    Row{record_list_too_large, "RECORD_LIST_TOO_LARGE", kFinal},
    Row{not_enough_replicas, "NOT_ENOUGH_REPLICAS", kRetriable},
    Row{not_enough_replicas_after_append, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", kRetriable},
    Row{invalid_required_acks, "INVALID_REQUIRED_ACKS", kFinal},
    Row{illegal_generation, "ILLEGAL_GENERATION", kFinal},
    Row{inconsistent_group_protocol, "INCONSISTENT_GROUP_PROTOCOL", kFinal},
    Row{invalid_group_id, "INVALID_GROUP_ID", kFinal},
    Row{unknown_member_id, "UNKNOWN_MEMBER_ID", kFinal},
    Row{invalid_session_timeout, "INVALID_SESSION_TIMEOUT", kFinal},
    Row{rebalance_in_progress, "REBALANCE_IN_PROGRESS", kFinal},
    Row{invalid_commit_offset_size, "INVALID_COMMIT_OFFSET_SIZE", kFinal},
    Row{topic_authorization_failed, "TOPIC_AUTHORIZATION_FAILED", kFinal},
    Row{group_authorization_failed, "GROUP_AUTHORIZATION_FAILED", kFinal},
    Row{cluster_authorization_failed, "CLUSTER_AUTHORIZATION_FAILED", kFinal},
    Row{invalid_timestamp, "INVALID_TIMESTAMP", kFinal},
    Row{unsupported_sasl_mechanism, "UNSUPPORTED_SASL_MECHANISM", kFinal},
    Row{illegal_sasl_state, "ILLEGAL_SASL_STATE", kFinal},
    Row{unsupported_version, "UNSUPPORTED_VERSION", kFinal},
    Row{topic_already_exists, "TOPIC_ALREADY_EXISTS", kFinal},
    Row{invalid_partitions, "INVALID_PARTITIONS", kFinal},
    Row{invalid_replication_factor, "INVALID_REPLICATION_FACTOR", kFinal},
    Row{invalid_replica_assignment, "INVALID_REPLICA_ASSIGNMENT", kFinal},
    Row{invalid_config, "INVALID_CONFIG", kFinal},
    Row{not_controller, "NOT_CONTROLLER", kRetriable},
    Row{invalid_request, "INVALID_REQUEST", kFinal},
    Row{unsupported_for_message_format, "UNSUPPORTED_FOR_MESSAGE_FORMAT", kFinal},
    Row{policy_violation, "POLICY_VIOLATION", kFinal},
    Row{out_of_order_sequence_number, "OUT_OF_ORDER_SEQUENCE_NUMBER", kFinal},
    Row{duplicate_sequence_number, "DUPLICATE_SEQUENCE_NUMBER", kFinal},
    Row{invalid_producer_epoch, "INVALID_PRODUCER_EPOCH", kFinal},
    Row{invalid_txn_state, "INVALID_TXN_STATE", kFinal},
    Row{invalid_producer_id_mapping, "INVALID_PRODUCER_ID_MAPPING", kFinal},
    Row{invalid_transaction_timeout, "INVALID_TRANSACTION_TIMEOUT", kFinal},
    Row{concurrent_transactions, "CONCURRENT_TRANSACTIONS", kRetriable},
    Row{transaction_coordinator_fenced, "TRANSACTION_COORDINATOR_FENCED", kFinal},
    Row{transactional_id_authorization_failed, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", kFinal},
    Row{security_disabled, "SECURITY_DISABLED", kFinal},
    Row{operation_not_attempted, "OPERATION_NOT_ATTEMPTED", kFinal},
    Row{kafka_storage_error, "KAFKA_STORAGE_ERROR", kRetriable},
    Row{log_dir_not_found, "LOG_DIR_NOT_FOUND", kFinal},
    Row{sasl_authentication_failed, "SASL_AUTHENTICATION_FAILED", kFinal},
    Row{unknown_producer_id, "UNKNOWN_PRODUCER_ID", kFinal},
    Row{reassignment_in_progress, "REASSIGNMENT_IN_PROGRESS", kFinal},
    Row{delegation_token_auth_disabled, "DELEGATION_TOKEN_AUTH_DISABLED", kFinal},
    Row{delegation_token_not_found, "DELEGATION_TOKEN_NOT_FOUND", kFinal},
    Row{delegation_token_owner_mismatch, "DELEGATION_TOKEN_OWNER_MISMATCH", kFinal},
    Row{delegation_token_request_not_allowed, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", kFinal},
    Row{delegation_token_authorization_failed, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", kFinal},
    Row{delegation_token_expired, "DELEGATION_TOKEN_EXPIRED", kFinal},
    Row{invalid_principal_type, "INVALID_PRINCIPAL_TYPE", kFinal},
    Row{non_empty_group, "NON_EMPTY_GROUP", kFinal},
    Row{group_id_not_found, "GROUP_ID_NOT_FOUND", kFinal},
    Row{fetch_session_id_not_found, "FETCH_SESSION_ID_NOT_FOUND", kRetriable},
    Row{invalid_fetch_session_epoch, "INVALID_FETCH_SESSION_EPOCH", kRetriable},
    Row{listener_not_found, "LISTENER_NOT_FOUND", kRetriable},
    Row{topic_deletion_disabled, "TOPIC_DELETION_DISABLED", kFinal},
    Row{fenced_leader_epoch, "FENCED_LEADER_EPOCH", kRetriable},
    Row{unknown_leader_epoch, "UNKNOWN_LEADER_EPOCH", kRetriable},
    Row{unsupported_compression_type, "UNSUPPORTED_COMPRESSION_TYPE", kFinal},
    Row{stale_broker_epoch, "STALE_BROKER_EPOCH", kFinal},
    Row{offset_not_available, "OFFSET_NOT_AVAILABLE", kRetriable},
    Row{member_id_required, "MEMBER_ID_REQUIRED", kFinal},
    Row{preferred_leader_not_available, "PREFERRED_LEADER_NOT_AVAILABLE", kRetriable},
    Row{group_max_size_reached, "GROUP_MAX_SIZE_REACHED", kFinal},
    Row{fenced_instance_id, "FENCED_INSTANCE_ID", kFinal},
    Row{eligible_leaders_not_available, "ELIGIBLE_LEADERS_NOT_AVAILABLE", kRetriable},
    Row{election_not_needed, "ELECTION_NOT_NEEDED", kRetriable},
    Row{no_reassignment_in_progress, "NO_REASSIGNMENT_IN_PROGRESS", kFinal},
    Row{group_subscribed_to_topic, "GROUP_SUBSCRIBED_TO_TOPIC", kFinal},
    Row{invalid_record, "INVALID_RECORD", kFinal},
    Row{unstable_offset_commit, "UNSTABLE_OFFSET_COMMIT", kRetriable},
    Row{throttling_quota_exceeded, "THROTTLING_QUOTA_EXCEEDED", kRetriable},
    Row{producer_fenced, "PRODUCER_FENCED", kFinal},
    Row{resource_not_found, "RESOURCE_NOT_FOUND", kFinal},
    Row{duplicate_resource, "DUPLICATE_RESOURCE", kFinal},
    Row{unacceptable_credential, "UNACCEPTABLE_CREDENTIAL", kFinal},
    Row{inconsistent_voter_set, "INCONSISTENT_VOTER_SET", kFinal},
    Row{invalid_update_version, "INVALID_UPDATE_VERSION", kFinal},
    Row{feature_update_failed, "FEATURE_UPDATE_FAILED", kFinal},
    Row{principal_deserialization_failure, "PRINCIPAL_DESERIALIZATION_FAILURE", kFinal},
    Row{snapshot_not_found, "SNAPSHOT_NOT_FOUND", kFinal},
    Row{position_out_of_range, "POSITION_OUT_OF_RANGE", kFinal},
    Row{unknown_topic_id, "UNKNOWN_TOPIC_ID", kRetriable},
    Row{duplicate_broker_registration, "DUPLICATE_BROKER_REGISTRATION", kFinal},
    Row{broker_id_not_registered, "BROKER_ID_NOT_REGISTERED", kFinal},
    Row{inconsistent_topic_id, "INCONSISTENT_TOPIC_ID", kRetriable},
    Row{inconsistent_cluster_id, "INCONSISTENT_CLUSTER_ID", kFinal},
    Row{transactional_id_not_found, "TRANSACTIONAL_ID_NOT_FOUND", kFinal},
    Row{fetch_session_topic_id_error, "FETCH_SESSION_TOPIC_ID_ERROR", kRetriable},
    Row{ineligible_replica, "INELIGIBLE_REPLICA", kFinal},
    Row{new_leader_elected, "NEW_LEADER_ELECTED", kFinal},
    Row{offset_moved_to_tiered_storage, "OFFSET_MOVED_TO_TIERED_STORAGE", kFinal},
    Row{fenced_member_epoch, "FENCED_MEMBER_EPOCH", kFinal},
    Row{unreleased_instance_id, "UNRELEASED_INSTANCE_ID", kFinal},
    Row{unsupported_assignor, "UNSUPPORTED_ASSIGNOR", kFinal},
    Row{stale_member_epoch, "STALE_MEMBER_EPOCH", kFinal},
    Row{mismatched_endpoint_type, "MISMATCHED_ENDPOINT_TYPE", kFinal},
    Row{unsupported_endpoint_type, "UNSUPPORTED_ENDPOINT_TYPE", kFinal},
    Row{unknown_controller_id, "UNKNOWN_CONTROLLER_ID", kFinal},
    Row{unknown_subscription_id, "UNKNOWN_SUBSCRIPTION_ID", kFinal},
    Row{telemetry_too_large, "TELEMETRY_TOO_LARGE", kFinal},
    Row{invalid_registration, "INVALID_REGISTRATION", kFinal},
    Row{transaction_abortable, "TRANSACTION_ABORTABLE", kFinal},
    Row{invalid_record_state, "INVALID_RECORD_STATE", kFinal},
    Row{share_session_not_found, "SHARE_SESSION_NOT_FOUND", kRetriable},
    Row{invalid_share_session_epoch, "INVALID_SHARE_SESSION_EPOCH", kRetriable},
    Row{fenced_state_epoch, "FENCED_STATE_EPOCH", kFinal},
    Row{invalid_voter_key, "INVALID_VOTER_KEY", kFinal},
    Row{duplicate_voter, "DUPLICATE_VOTER", kFinal},
    Row{voter_not_found, "VOTER_NOT_FOUND", kFinal},
    Row{invalid_regular_expression, "INVALID_REGULAR_EXPRESSION", kFinal},
    Row{rebootstrap_required, "REBOOTSTRAP_REQUIRED", kFinal},
    Row{streams_invalid_topology, "STREAMS_INVALID_TOPOLOGY", kFinal},
    Row{streams_invalid_topology_epoch, "STREAMS_INVALID_TOPOLOGY_EPOCH", kFinal},
    Row{streams_topology_fenced, "STREAMS_TOPOLOGY_FENCED", kFinal},
    Row{share_session_limit_reached, "SHARE_SESSION_LIMIT_REACHED", kRetriable},
};

static_assert([] {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<int>(kRows[i].code) != static_cast<int>(i) + static_cast<int>(kErrorCodeMin)) {
      return false;
    }
  }
  return kRows.back().code == kErrorCodeMax;
}());

const Row* find(ErrorCode code) {
  if (code < kErrorCodeMin || code > kErrorCodeMax) return nullptr;
  return &kRows[static_cast<size_t>(static_cast<int>(code) - static_cast<int>(kErrorCodeMin))];
}

}  // namespace

std::string_view name(ErrorCode code) {
  const Row* const row = find(code);
  return row == nullptr ? "UNKNOWN" : row->name;
}

bool is_retriable(ErrorCode code) {
  const Row* const row = find(code);
  return row != nullptr && row->retriable;
}

}  // namespace weir::model
