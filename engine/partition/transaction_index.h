#pragma once
// TransactionIndex: where the transactions of one partition lie: the open ones, which bound what
// read_committed may see, and the aborted ones, which tell it what to leave out (KIP-98,
// UnifiedLog). Part of ProducerState, which feeds it batch after batch, live and in recovery.
// Owned by the partition on its home core.
//
// A transaction is unstable from its first batch until its marker is durable. Aborted transactions
// are kept as long as the log has offsets of theirs, 32 bytes each.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/model/ids.h"
#include "io/base/fifo.h"

namespace weir::partition {

// What a consumer is told: records of this producer from first_offset to its next marker are void.
struct AbortedTransaction {
  model::ProducerId producer_id = model::kNoProducerId;
  model::Offset first_offset;
  bool operator==(const AbortedTransaction&) const = default;
};

class TransactionIndex {
 public:
  struct Aborted {
    model::ProducerId producer_id = model::kNoProducerId;
    model::Offset first_offset;
    model::Offset last_offset;    // its marker
    // Transactions whose markers come later begin here or behind it: a search may end.
    model::Offset stable_offset;
  };

  // A transaction begins with the batch at that offset.
  void begin(model::Offset first_offset);
  // Its marker was placed at marker_offset; offsets of markers ascend.
  void end(model::ProducerId producer_id, model::Offset first_offset, model::Offset marker_offset,
           bool committed);
  // Everything below next_offset is durable.
  void on_durable(model::Offset next_offset);

  // First offset of the oldest transaction that is open or whose marker is not durable; kNoOffset
  // when there is none.
  model::Offset first_unstable_offset() const {
    return unstable_.empty() ? model::kNoOffset : unstable_.begin()->first;
  }
  size_t unstable_count() const { return unstable_.size(); }

  // Appends the aborted transactions that touch [from, to), by first offset.
  void find_aborted(model::Offset from, model::Offset to,
                    std::vector<AbortedTransaction>& out) const;
  // Aborted transactions that end below the log start are of no use any more.
  void forget_before(model::Offset log_start);

  // The aborted transactions with these markers have no record any more: nobody needs to know.
  void forget_markers(std::span<const model::Offset> markers);

  // Ascending by last_offset; for snapshots.
  const base::Fifo<Aborted>& aborted() const { return aborted_; }
  void restore_aborted(const Aborted& aborted) { aborted_.push_back(aborted); }

 private:
  std::map<model::Offset, model::Offset> unstable_;  // first offset -> marker's, kNoOffset: open
  base::Fifo<model::Offset> ended_;                  // first offsets, by marker; not durable yet
  base::Fifo<Aborted> aborted_;
};

}  // namespace weir::partition
