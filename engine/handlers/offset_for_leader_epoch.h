#pragma once
// OffsetForLeaderEpoch: where a leader epoch ended (KIP-101, KIP-320), asked at the home cores.

#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/offset_for_leader_epoch.h"

namespace weir::handlers {

class OffsetForLeaderEpochHandler final : public Handler {
 public:
  explicit OffsetForLeaderEpochHandler(Request& request) : Handler(request) {}
  ~OffsetForLeaderEpochHandler() override;

  void start() override;

 private:
  using Response = wire::OffsetForLeaderEpochResponse;

  struct Part {
    explicit Part(OffsetForLeaderEpochHandler& owner) {
      lookup.bind_reply<&OffsetForLeaderEpochHandler::on_reply>(owner);
    }
    partition::EpochEndRequest lookup;
    Response::Partition* out = nullptr;
    bool sent = false;
  };

  [[nodiscard]] bool prepare();
  void ask_topic(const wire::OffsetForLeaderEpochRequest::Topic& in, Response::Topic& out);
  void on_reply(io::Message&);
  void finish();

  wire::OffsetForLeaderEpochRequest in_;
  Response out_;
  Part* parts_ = nullptr;  // in the arena, destroyed with the handler
  size_t part_count_ = 0;
  size_t outstanding_ = 0;  // lookups away, and 1 while start() runs
};

void start_offset_for_leader_epoch(Request& request);

}  // namespace weir::handlers
