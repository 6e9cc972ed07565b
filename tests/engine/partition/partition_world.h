#pragma once
// PartitionWorld: a journal and some partitions on one simulated core, started, killed and started
// again in the order that the broker keeps (recover, new journal, carry, only then forget the old
// journal). What the broker keeps in meta.json, the generation of the journals, is a member here.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/journal/creation.h"
#include "engine/log/file_names.h"
#include "engine/model/ports.h"
#include "engine/partition/partition_table.h"
#include "engine/partition/recovery.h"
#include "io/base/logging.h"
#include "io/sim/sim_world.h"
#include "tests/engine/log/batch_support.h"

namespace weir::partition {

inline constexpr int64_t kSecond_ns = 1'000'000'000;

using base::operator""_ms;

// Small enough that a few dozen appends wrap the ring.
inline journal::Config small_journal() {
  return {.size_initial = 512_KiB,
          .size_max = 512_KiB,
          .growth_step = 64_KiB,
          .record_size_max = 128_KiB,
          .early_commit_bytes = 32_KiB,
          .extent_threshold = 64_KiB,
          .commits_in_flight_max = 4,
          .frontier_delay_ns = 50_ms};
}

struct WorldOptions {
  io::sim::SimOptions sim{};
  journal::Config journal = small_journal();
  Config partition{.flush_bytes = 64_KiB};
  PartitionSettings settings{.segment_bytes = 1_MiB};
  int32_t partition_count = 1;
  size_t buffers_kept = 1 << 20;
};

inline model::PartitionKey key_of(int32_t index) {
  return {model::TopicSerial(7), model::PartitionIndex(index)};
}

// A request of the test, and whether it came back.
template <class Request>
struct Call : Request {
  Call() { this->template bind_reply<&Call::on_reply>(*this); }
  void on_reply(io::Message&) { done = true; }
  bool done = false;
};

// A read, its one item, and what it gave as one run of bytes.
struct Read : Call<ReadRequest> {
  Read(int32_t index, model::Offset offset, uint32_t limit) {
    size_max = limit;
    item.key = key_of(index);
    item.fetch_offset = offset;
    item.size_max = limit;
  }
  ReadItem item;
  std::vector<std::byte> bytes;
};

class PartitionWorld {
 public:
  explicit PartitionWorld(uint64_t seed, WorldOptions options = {})
      : options_(options), world_(seed, options.sim) {
    base::set_log_level(base::LogLevel::off);
    op_.bind<&PartitionWorld::on_done>(*this);
    world_.disk().install_directory("/data/topics");
    world_.disk().install_directory("/data/journal");
    world_.disk().install_directory("/data/pool");
  }
  ~PartitionWorld() {
    if (!world_.crashed()) world_.crash(io::sim::CrashKind::process_kill);
    node_.reset();
  }
  PartitionWorld(const PartitionWorld&) = delete;

  io::sim::SimWorld& sim() { return world_; }
  WorldOptions& options() { return options_; }
  journal::Journal& journal() { return node_->journal; }
  PartitionTable& table() { return node_->table; }
  Partition& partition(int32_t index = 0) { return *node_->table.find(key_of(index)); }
  Metrics& metrics() { return node_->metrics; }
  SpaceReserve& reserve() { return node_->reserve; }
  log::BufferPool& pool() { return node_->pool; }
  log::SegmentPool& segment_pool() { return node_->segment_pool; }
  const Recovery::Stats& recovery_stats() const { return stats_; }
  // Every file and its bytes, as on the medium.
  using Files = std::map<std::string, std::vector<std::byte>>;
  Files files() {
    Files all;
    for (const auto& path : world_.disk().files()) all.emplace(path, world_.disk().content(path));
    return all;
  }
  // Before start(): the files of another world, all durable.
  void adopt(uint64_t generation, const Files& files) {
    ASSERT(generation_ == 0 && !node_);
    generation_ = generation;
    io::Disk& disk = world_.core(0).disk;
    for (const auto& [path, bytes] : files) {
      const std::string parent = path.substr(0, path.rfind('/'));
      world_.disk().install_directory(parent);
      disk.open(op_, path.c_str(), {.create = true});
      ASSERT(waited());
      const io::FileId file(op_.result());
      const io::Slice all{bytes.data(), bytes.size()};
      if (!bytes.empty()) {
        disk.write(op_, file, std::span(&all, 1), 0, io::Durability::on_completion);
        ASSERT(waited());
      }
      disk.close(op_, file);
      ASSERT(waited());
      disk.sync_directory(op_, parent.c_str());
      ASSERT(waited());
    }
  }
  // Why start() said false; empty when the world crashed.
  const std::string& failure() const { return failure_; }
  uint64_t generation() const { return generation_; }
  std::string journal_path(uint64_t generation) const {
    return log::journal_file("/data", 0, generation);
  }
  std::string directory(int32_t index = 0) const {
    return log::partition_directory("/data", "clicks", key_of(index));
  }
  std::string segment_path(int64_t base_offset, std::string_view suffix, int32_t index = 0) const {
    return log::segment_file(directory(index), model::Offset(base_offset), suffix);
  }

  // False: the world crashed on the way, or failure().
  bool start() {
    std::map<model::PartitionKey, Recovered> found;
    if (!recover(found) || !make_journal()) return false;
    node_ = std::make_unique<Node>(*this);
    node_->services.leader_epoch = ++leader_epoch_;
    node_->journal.open(journal_path(generation_ + 1), log_id(), generation_ + 1, op_);
    if (!waited()) return false;
    node_->table.listen();
    for (int32_t i = 0; i < options_.partition_count; ++i) {
      node_->table.create(key_of(i), "clicks", options_.settings);
    }
    for (auto& [key, recovered] : found) node_->table.find(key)->restore(std::move(recovered));
    node_->journal.drain(op_);
    if (!waited()) return false;
    ++generation_;
    world_.core(0).disk.remove(op_, journal_path(generation_ - 1).c_str());
    waited();
    failure_.clear();  // the first start finds none
    return !world_.crashed();
  }

  // Recovery alone, as at a start; nothing is built of it.
  bool recover(std::map<model::PartitionKey, Recovered>& found) {
    if (generation_ == 0) return true;
    KnownPartitions known;
    for (int32_t i = 0; i < options_.partition_count; ++i) known.emplace(key_of(i), directory(i));
    Recovery recovery(world_.core(0), known);
    base::Status status = recovery.replay(journal_path(generation_), generation_, 0);
    if (status) {
      auto result = recovery.finish();
      if (result) found = *std::move(result);
      else status = std::unexpected(result.error());
    }
    stats_ = recovery.stats();
    if (!status && !world_.crashed()) failure_ = status.error().detail;
    return status && !world_.crashed();
  }

  // After a crash: what was in flight is gone; the disk is as the crash left it.
  void restart() {
    ASSERT(world_.crashed());
    node_.reset();
    if (op_.armed()) op_.abandon();
    done_ = false;
    world_.restart(1);
    const auto locked = world_.platform().lock("/data", 600'000);
    ASSERT(locked.has_value());
  }
  void crash(io::sim::CrashKind kind = io::sim::CrashKind::process_kill) {
    world_.crash(kind);
    restart();
  }

  template <class Predicate>
  bool run_until(Predicate predicate, int64_t bound_ns = 600'000'000'000) {
    return world_.run_until([&] { return world_.crashed() || predicate(); }, bound_ns) &&
           !world_.crashed();
  }
  void send(io::Message& message, io::Port port) {
    world_.core(0).mailboxes.send(io::CoreIndex(0), port, message);
  }
  template <class Request>
  bool ask(Call<Request>& call, io::Port port) {
    call.done = false;
    send(call, port);
    return run_until([&] { return call.done; });
  }

  void send_append(Call<AppendRequest>& call, std::span<const std::byte> batch, int32_t index = 0) {
    call.key = key_of(index);
    call.batch = batch;
    send(call, model::ports::kAppend);
  }
  // The base offset it got, or minus the error.
  int64_t append(std::span<const std::byte> batch, int32_t index = 0) {
    Call<AppendRequest> call;
    send_append(call, batch, index);
    if (!run_until([&] { return call.done; })) return INT64_MIN;
    if (call.error != model::ErrorCode::none) return -static_cast<int64_t>(call.error);
    return call.base_offset.value();
  }
  bool read(Read& read) {
    read.items = std::span(&read.item, 1);
    if (!ask(read, model::ports::kRead)) return false;
    read.bytes.clear();
    size_t size = 0;
    for (const io::Slice& piece : read.item.pieces) {
      read.bytes.insert(read.bytes.end(), piece.data, piece.data + piece.size);
      size += piece.size;
    }
    ASSERT(size == read.item.size);
    return ask(read, model::ports::kReleaseRead);
  }
  // Everything below the high watermark, whole batches; stops at the first error, kept in `error`.
  std::vector<std::byte> read_all(int32_t index, model::ErrorCode& error,
                                  uint32_t size_max = 1 << 20) {
    std::vector<std::byte> all;
    model::Offset at = partition(index).log_start_offset();
    error = model::ErrorCode::none;
    while (at < partition(index).high_watermark()) {
      Read call(index, at, size_max);
      if (!read(call)) break;
      error = call.item.error;
      if (error != model::ErrorCode::none || call.bytes.empty()) break;
      all.insert(all.end(), call.bytes.begin(), call.bytes.end());
      for (std::span<const std::byte> left = call.bytes; !left.empty();) {
        const log::BatchView batch(left);
        at = batch.next_offset();
        left = left.subspan(batch.size());
      }
    }
    return all;
  }

 private:
  struct Node {
    explicit Node(PartitionWorld& world)
        : journal(world.world_.core(0), world.options_.journal),
          pool(world.options_.buffers_kept),
          tail_cache{.budget_bytes = world.options_.partition.tail_cache_bytes, .by_age = {}},
          segment_pool(world.world_.core(0), "/data/pool",
                       {.bytes_max = static_cast<uint64_t>(world.options_.partition.pool_bytes),
                        .file_bytes_min = world.options_.partition.pool_file_bytes_min}),
          remover(world.world_.core(0), segment_pool),
          retention_clock(world.world_.core(0).clock),
          primer(world.world_.core(0), journal, world.options_.partition, metrics),
          reserve(world.world_.core(0), world.options_.partition, metrics, segment_pool, "/data"),
          services{world.world_.core(0), journal, pool, tail_cache, metrics, segment_pool, remover,
                   retention_clock, primer, reserve, log::topics_directory("/data")},
          table(services, world.options_.partition, "/data") {
      segment_pool.start();
    }
    journal::Journal journal;
    log::BufferPool pool;
    TailCache tail_cache;
    Metrics metrics;
    log::SegmentPool segment_pool;
    log::SegmentRemover remover;
    RetentionClock retention_clock;
    SegmentPrimer primer;
    SpaceReserve reserve;
    Services services;
    PartitionTable table;
  };
  journal::LogId log_id() const {
    journal::LogId id;
    id.bytes.fill(static_cast<uint8_t>(0x40 + generation_));
    return id;
  }
  void on_done(io::Op&) { done_ = true; }
  // Some operations are armed only later, so it is not the loop that waits for them.
  bool waited() {
    run_until([&] { return done_; });
    done_ = false;
    if (!world_.crashed() && op_.result() < 0) failure_ = fmt::format("result {}", op_.result());
    return !world_.crashed() && op_.result() >= 0;
  }
  bool make_journal() {
    io::CoreIo& core = world_.core(0);
    const std::string path = journal_path(generation_ + 1);
    core.disk.remove(op_, path.c_str());
    waited();
    failure_.clear();  // there mostly is none
    const journal::NewJournal journal{path, {.log_id = log_id(), .generation = generation_ + 1,
                                             .core = 0, .core_count = 1}};
    const auto made = journal::create_journals(core.loop, core.disk, std::span(&journal, 1),
                                               options_.journal.size_initial);
    if (!made && !world_.crashed()) failure_ = made.error().detail;
    if (!made) return false;
    core.disk.sync_directory(op_, "/data/journal");
    return waited();
  }

  WorldOptions options_;
  io::sim::SimWorld world_;
  std::unique_ptr<Node> node_;
  Recovery::Stats stats_;
  std::string failure_;
  uint64_t generation_ = 0;  // of the journal that counts; what meta.json says
  int32_t leader_epoch_ = 0;
  io::Op op_;
  bool done_ = false;
};

}  // namespace weir::partition
