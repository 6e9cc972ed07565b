#pragma once
// ListOffsets: the first offset at or after a timestamp, or one of the special offsets (SCOPE 12);
// each partition is asked at its home core.

#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/list_offsets.h"

namespace weir::catalog {
struct Topic;
}

namespace weir::handlers {

class ListOffsetsHandler final : public Handler {
 public:
  explicit ListOffsetsHandler(Request& request) : Handler(request) {}
  ~ListOffsetsHandler() override;

  void start() override;

 private:
  using Response = wire::ListOffsetsResponse;

  struct Part {
    explicit Part(ListOffsetsHandler& owner) {
      lookup.bind_reply<&ListOffsetsHandler::on_reply>(owner);
    }
    partition::OffsetsRequest lookup;
    const catalog::Topic* topic = nullptr;  // while start() runs
    int64_t timestamp = 0;                  // as asked
    Response::Partition* out = nullptr;
    model::ErrorCode error = model::ErrorCode::none;  // known here
    bool answered = false;                            // by the first part of the same partition
  };

  [[nodiscard]] bool resolve();
  void resolve_topic(const wire::ListOffsetsRequest::Topic& in, Response::Topic& out);
  void mark_duplicates();
  void drop_answered();
  void send(Part& part);
  void on_reply(io::Message&);
  void finish();

  wire::ListOffsetsRequest in_;
  Response out_;
  Part* parts_ = nullptr;  // in the arena, destroyed with the handler
  size_t part_count_ = 0;
  size_t outstanding_ = 0;  // lookups away, and 1 while start() runs
};

void start_list_offsets(Request& request);

}  // namespace weir::handlers
