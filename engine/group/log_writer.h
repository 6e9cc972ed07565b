#pragma once
// LogWriter: what the coordinator of one core writes to the group log. All records of a turn for
// one partition of __consumer_offsets go out as one batch at the end of the turn, so that a
// thousand commits cost one append.
//
//   log_writer.open(partition, size);        all records until wait() stay in one batch
//   log_writer.add(key, value, headers);
//   log_writer.wait(write);                  write runs when they are durable or have failed
//
// Writes of one partition complete in the order of wait(), which is the order of their records.
//
// Records of a transaction lie in batches of their own, with the producer's id and epoch, and so
// does the marker that ends it (KIP-98).

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/group/group_log.h"
#include "engine/group/metrics.h"
#include "engine/log/record_batch.h"
#include "engine/partition/messages.h"
#include "io/base/intrusive_list.h"
#include "io/core_io.h"

namespace weir::group {

// One wait for records; embedded in what waits, which lives until the write has completed.
class LogWrite : public base::ListHook {
 public:
  // out
  model::ErrorCode error = model::ErrorCode::none;
  bool outcome_unknown = false;

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o, LogWrite& write) { (static_cast<Owner*>(o)->*Method)(write); };
  }
  bool in_flight() const { return in_flight_; }

 private:
  friend class LogWriter;
  void* owner_ = nullptr;
  void (*function_)(void*, LogWrite&) = nullptr;
  bool in_flight_ = false;
};

class LogWriter {
 public:
  LogWriter(io::CoreIo& io, GroupLog& log, GroupMetrics& metrics);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Chooses the batch for what is added next; `size` is a rough estimate of it.
  void open(model::PartitionIndex partition, size_t size);
  // A batch for records of a transaction; its number is what the coordinator gave.
  void open_transactional(model::PartitionIndex partition, model::ProducerId producer_id,
                          model::ProducerEpoch producer_epoch, uint64_t transaction);
  // The marker of a transaction; `write` runs when it is durable.
  void write_marker(const partition::MarkerRequest& request, LogWrite& write);
  void add(std::span<const std::byte> key, std::optional<std::span<const std::byte>> value,
           std::span<const log::RecordHeader> headers = {});
  void wait(LogWrite& write);

  // Appends given to the log and not yet back, or about to be given.
  bool idle() const { return batches_in_flight_ == 0 && dirty_.empty(); }

 private:
  struct Batch {
    log::BatchBuilder builder;
    base::IntrusiveList<LogWrite> writes;
    GroupAppend append;
    bool is_marker = false;
    log::MarkerBatch marker;

    bool has_content() const { return is_marker || builder.record_count() > 0; }
  };

  static constexpr size_t kFreeBatchesMax = 16;
  static constexpr size_t kFreeBatchSizeMax = size_t{1} << 20;  // larger ones go back to the heap

  void on_turn_end(io::Op& op);
  void on_appended(GroupAppend& append);
  Batch& new_batch(model::PartitionIndex partition, const log::BatchOptions& options = {});

  io::CoreIo& io_;
  GroupLog& log_;
  GroupMetrics& metrics_;
  io::Op turn_end_;
  Batch* current_ = nullptr;                               // of open()
  std::unordered_map<int32_t, Batch*> open_;               // by partition: the last of dirty_
  std::vector<std::unique_ptr<Batch>> dirty_;              // to append at the end of the turn
  std::unordered_map<GroupAppend*, std::unique_ptr<Batch>> in_flight_;
  std::vector<std::unique_ptr<Batch>> free_;
  size_t batches_in_flight_ = 0;
};

}  // namespace weir::group
