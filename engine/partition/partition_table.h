#pragma once
// PartitionTable: the partitions whose home is this core, and the answers to what other cores ask
// of them (messages.h). Owned by broker::Core; one core.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/partition/cleaner.h"
#include "engine/partition/directory_remover.h"
#include "engine/partition/offsets_job.h"
#include "engine/partition/partition.h"
#include "engine/partition/read_gate.h"
#include "engine/partition/read_job.h"
#include "engine/partition/retention.h"

namespace weir::partition {

class PartitionTable : private Partition::QuietListener {
 public:
  PartitionTable(Services& services, const Config& config, std::string data_directory);
  ~PartitionTable() override;
  PartitionTable(const PartitionTable&) = delete;

  // Starts to take messages.
  void listen();

  Partition* find(model::PartitionKey key);
  Partition& create(model::PartitionKey key, std::string_view topic,
                    const PartitionSettings& settings);
  // What waits is answered; the files go in the background once nothing uses them.
  void remove(model::PartitionKey key);
  // A directory that belongs to no partition any more goes in the background.
  void remove_directory(std::string directory, std::string deleted) {
    remover_.remove(std::move(directory), std::move(deleted));
  }
  size_t size() const { return partitions_.size(); }
  const auto& partitions() const { return partitions_; }

  // From now on old segments go, as the settings of the partitions say.
  void start_retention(ReadPositions* positions) { retention_.start(positions); }
  // From now on compacted logs are compacted.
  void start_cleaner() { cleaner_.start(); }
  Cleaner& cleaner() { return cleaner_; }
  // Before any stop: what removes files ends.
  void stop_retention();
  // Before a clean stop: moves what can be moved to segments.
  void prepare_stop();
  bool quiet() const;

  ReadGate& read_gate() { return read_gate_; }
  // For jobs that are over.
  void done(OffsetsJob& job);

 private:
  void on_append(io::Message& message);
  void on_read(io::Message& message);
  void on_release_read(io::Message& message);
  void on_watch(io::Message& message);
  void on_cancel_watch(io::Message& message);
  void on_list_offsets(io::Message& message);
  void on_epoch_end(io::Message& message);
  void on_log_sizes(io::Message& message);
  void on_delete_records(io::Message& message);
  void on_write_marker(io::Message& message);
  void on_describe_producers(io::Message& message);
  void on_partition_quiet(Partition& partition) override;
  void on_reap(io::Op& op);
  bool must_look_again(const WatchItem& item);

  template <class Job>
  struct Jobs {
    std::vector<std::unique_ptr<Job>> all;
    std::vector<Job*> free;
    Job& take(PartitionTable& table, Services& services);
  };

  Services& services_;
  const Config& config_;
  std::string data_directory_;
  std::unordered_map<model::PartitionKey, std::unique_ptr<Partition>> partitions_;
  std::vector<std::unique_ptr<Partition>> removed_;  // not quiet yet
  std::vector<std::unique_ptr<Partition>> quiet_;    // destroyed at the end of the turn
  io::Op reap_op_;
  DirectoryRemover remover_;
  Retention retention_;
  Cleaner cleaner_;
  Jobs<ReadJob> reads_;
  Jobs<OffsetsJob> offsets_;
  ReadGate read_gate_;  // lists jobs
};

}  // namespace weir::partition
