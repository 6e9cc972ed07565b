#pragma once
// Fetch: reads at the partitions' home cores, waits there when there is too little, answers with
// the bytes as they lie in the home cores' memory.
//
//   start ─▶ reading ─▶ answered ─▶ (sent) release the leases
//               │ ▲    └▲ charging: may the client have it now?
//    too little ▼ │ everything is back
//            watching ─▶ collecting        news, deadline or the client has gone
//
// Watching: one WatchRequest at every involved home core. The bytes that are missing are split
// among them, so that min_bytes cannot be reached together without one of them noticing; on the
// first news the others are called back and everything is read again. A second look that found
// nothing more than the one before ends the waiting: what can be counted and what can be read may
// differ, and a fetch must not spin.
//
// A client with a quota that has no room for what was found gets an empty answer and has to wait;
// one answer is cut to what the quota allows in a window (KIP-13).
//
// Sessions are not kept: every answer has session id 0, which clients take as a full fetch.

#include <cstdint>
#include <span>

#include "engine/handlers/fetch_plan.h"
#include "engine/handlers/quota_buckets.h"
#include "engine/handlers/request.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/fetch.h"
#include "io/timers.h"

namespace weir::handlers {

class FetchHandler final : public Handler {
 public:
  explicit FetchHandler(Request& request) : Handler(request) {
    charge_.bind_reply<&FetchHandler::on_charged>(*this);
  }
  ~FetchHandler() override;

  void start() override;
  void on_abandoned() override;
  [[nodiscard]] bool release() override;

 private:
  using Response = wire::FetchResponse;
  enum class Stage : uint8_t { starting, reading, watching, collecting, charging, answered };

  // The messages to one home core.
  struct Core {
    Core(FetchHandler& owner_handler, const FetchShare& its_share);
    void on_watch_back(io::Message&);

    FetchHandler& owner;
    const FetchShare& share;
    partition::ReadRequest read;
    partition::WatchRequest watch;
    partition::CancelWatch cancel;
    uint64_t size_read = 0;
    bool leased = false;  // read has pieces of the home core that must be given back
    bool watched = false; // watch is away
  };

  [[nodiscard]] bool make_cores();
  void send_reads();
  void on_read_back(io::Message&);
  void after_read();
  [[nodiscard]] bool is_enough(uint64_t size, bool any_news) const;
  void wait();
  [[nodiscard]] bool make_watches();
  void send_watch(Core& core, uint64_t size_min);
  void stop_waiting();
  void on_deadline();
  void on_cancel_back(io::Message&);
  void give_back(Core& core);
  void on_released(io::Message&);
  void one_back();
  void charge_quota();
  void on_charged(io::Message&);
  void respond();
  void report(const FetchEntry& entry, Response::Partition& out, uint64_t& left, bool& first);
  [[nodiscard]] bool report_aborted(const partition::ReadItem& item, Response::Partition& out);
  [[nodiscard]] wire::RecordsChain chain(std::span<const io::Slice> pieces);

  wire::FetchRequest in_;
  FetchPlan plan_;
  Core* cores_ = nullptr;  // in the arena, destroyed with the handler
  size_t core_count_ = 0;
  uint64_t size_min_ = 0;
  uint64_t size_seen_ = 0;  // found by the last look
  size_t away_ = 0;         // messages at other cores
  io::Timer deadline_timer_;
  io::Instant deadline_;
  Stage stage_ = Stage::starting;
  QuotaCharge charge_;      // of the bytes found, before they are answered
  bool waited_ = false;
  bool over_ = false;       // deadline passed, or nobody waits any more
};

void start_fetch(Request& request);

}  // namespace weir::handlers
