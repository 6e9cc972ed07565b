#pragma once
// Broker: start: recover, then serve; stop: drain, then close. One per process (or simulated
// process); runs on any io::Platform.
//
// Start, on core 0 in straight line: meta and catalog are read; the journals of the last run are
// replayed and the partitions put together; new journals are made; every core builds its part and
// carries what recovery found into its journal; meta.json then names the new journals (the commit
// point of recovery, L10, L11) and the old ones go; only then the port opens (CASES C29). A failure
// at any step leaves the old state in force and ends the process with exit_code().
//
// Exit codes (docs/DURABILITY.md): 0 stopped on request; 1 could not start; 74 a device failed
// while serving.

#include <memory>
#include <string>
#include <vector>

#include "engine/broker/boot.h"
#include "engine/broker/config.h"
#include "engine/broker/core.h"
#include "engine/broker/ready_observer.h"
#include "engine/catalog/catalog_store.h"
#include "engine/catalog/catalog_writer.h"
#include "engine/catalog/node_identity.h"
#include "io/core_io.h"
#include "io/watched_disk.h"

namespace weir::broker {

inline constexpr int kExitStartFailed = 1;
inline constexpr int kExitDeviceFailed = 74;  // EX_IOERR

class Broker final : public io::Platform::CoreMain, public Core::Owner {
 public:
  // The observer, where there is one, outlives the broker.
  explicit Broker(Config config, ReadyObserver* observer = nullptr);
  ~Broker() override;
  Broker(const Broker&) = delete;

  // io::Platform::CoreMain
  void on_core_start(io::CoreIo& core) override;
  void on_stop_request(io::CoreIo& core) override;
  void on_core_stop(io::CoreIo& core) override;

  // For whoever runs it; all from core 0's thread, or after the loops have ended.
  bool ready() const { return ready_; }
  bool failed() const { return exit_code_ != 0; }
  const std::string& failure() const { return failure_; }
  int exit_code() const { return exit_code_; }
  const std::vector<io::Address>& addresses() const { return addresses_; }

  // For a world whose cores are all on one thread: the alarms of all disks.
  struct DiskAlarms {
    uint64_t stuck = 0;     // calls, now
    uint64_t episodes = 0;  // so far
  };
  DiskAlarms disk_alarms() const;

 private:
  base::Status boot(io::CoreIo& core);
  void find_room(io::CoreIo& core);
  base::Status read_state(io::CoreIo& core);
  base::Status recover(io::CoreIo& core);
  base::Status make_journals(io::CoreIo& core);
  // Asks cores `first` and up, and waits; straight line.
  base::Status ask(io::CoreIo& core, ControlCall::Kind kind, uint16_t first, uint16_t last);
  base::Status commit_start(io::CoreIo& core);
  void remove_leftovers(io::CoreIo& core);
  std::string journal_path(uint16_t core, uint64_t generation) const;
  void on_reply(io::Message& message);
  void tell_all(ControlCall::Kind kind);
  void on_stop_step(io::Op& op);
  void end_loops();
  void fail(int exit_code, std::string reason);

  void on_grace_over();
  void on_catalog_failed(io::Op& op);
  base::Status serve(io::CoreIo& core);
  // Core::Owner
  void on_device_failed(const std::string& reason) override;

  const Config config_;
  ReadyObserver* const observer_;
  // A core's part of the machine, its disk watched.
  struct Machine {
    Machine(io::CoreIo& core, int64_t io_stuck_ms)
        : disk(core.disk, core.loop, io_stuck_ms),
          io{core.index, core.core_count, core.loop, disk,
             core.network, core.clock, core.mailboxes, core.random} {}
    io::WatchedDisk disk;
    io::CoreIo io;
  };
  // Each slot written by its own core's thread.
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Core>> cores_;

  // Core 0's from here on.
  catalog::Meta meta_;
  catalog::CatalogStore store_;
  std::unique_ptr<catalog::FileIo> files_;
  BootData data_;
  std::unique_ptr<catalog::CatalogWriter> writer_;
  std::vector<std::unique_ptr<ControlCall>> calls_;  // one per core
  io::CoreIo* core0_ = nullptr;
  io::Op* all_replied_ = nullptr;  // runs when outstanding_ is zero
  io::Timer grace_timer_;
  uint16_t outstanding_ = 0;
  io::Op stop_op_;
  io::Op catalog_failure_op_;
  enum class StopStage : uint8_t { none, cores, journals, writer, loops };
  StopStage stop_stage_ = StopStage::none;
  std::vector<io::Address> addresses_;
  std::vector<std::string> pool_leftovers_;  // of the run before, in the pool's directory
  std::string failure_;
  int exit_code_ = 0;
  bool ready_ = false;
};

}  // namespace weir::broker
