#pragma once
// Which part of a core a message between cores is for (io/mailbox.h).

#include "io/mailbox.h"

namespace weir::model::ports {

inline constexpr io::Port kAppend{0};         // partition::AppendRequest
inline constexpr io::Port kRead{1};           // partition::ReadRequest
inline constexpr io::Port kReleaseRead{2};    // partition::ReadRequest, giving its leases back
inline constexpr io::Port kWatch{3};          // partition::WatchRequest
inline constexpr io::Port kCancelWatch{4};    // partition::CancelWatch
inline constexpr io::Port kListOffsets{5};    // partition::OffsetsRequest
inline constexpr io::Port kEpochEnd{6};       // partition::EpochEndRequest
inline constexpr io::Port kGroup{7};          // group::GroupCall
inline constexpr io::Port kCatalogChange{8};  // catalog::ChangeRequest, to core 0
inline constexpr io::Port kCatalogApply{9};   // catalog::ApplyUpdate, from core 0 to every core
inline constexpr io::Port kProducerIds{10};   // catalog::ProducerIdBlock, to core 0
inline constexpr io::Port kControl{11};       // broker: start, stop, metrics
inline constexpr io::Port kListGroups{12};    // group::ListGroupsCall, to every core
inline constexpr io::Port kLogSizes{13};      // partition::LogSizesRequest
inline constexpr io::Port kQuota{14};         // handlers::QuotaCharge
inline constexpr io::Port kDeleteRecords{15};  // partition::DeleteRecordsRequest
inline constexpr io::Port kReadPositions{16};  // broker::PositionsCall, to every core
inline constexpr io::Port kWriteMarker{17};   // partition::MarkerRequest
inline constexpr io::Port kGroupMarker{18};   // partition::MarkerRequest, of __consumer_offsets
inline constexpr io::Port kDescribeProducers{19};  // partition::ProducersRequest
inline constexpr io::Port kTransaction{20};   // transaction::TransactionCall

}  // namespace weir::model::ports
