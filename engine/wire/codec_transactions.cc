#include "engine/wire/codec_impl.h"
#include "engine/wire/messages/add_offsets_to_txn.h"
#include "engine/wire/messages/add_partitions_to_txn.h"
#include "engine/wire/messages/describe_producers.h"
#include "engine/wire/messages/describe_transactions.h"
#include "engine/wire/messages/end_txn.h"
#include "engine/wire/messages/list_transactions.h"
#include "engine/wire/messages/txn_offset_commit.h"
#include "engine/wire/messages/write_txn_markers.h"

namespace weir::wire {

WEIR_WIRE_INSTANTIATE_API(AddPartitionsToTxn);
WEIR_WIRE_INSTANTIATE_API(AddOffsetsToTxn);
WEIR_WIRE_INSTANTIATE_API(EndTxn);
WEIR_WIRE_INSTANTIATE_API(WriteTxnMarkers);
WEIR_WIRE_INSTANTIATE_API(TxnOffsetCommit);
WEIR_WIRE_INSTANTIATE_API(DescribeProducers);
WEIR_WIRE_INSTANTIATE_API(DescribeTransactions);
WEIR_WIRE_INSTANTIATE_API(ListTransactions);

}  // namespace weir::wire
