#pragma once
// DeleteRecords: raises the log start offset of partitions (SCOPE 20.1); answered when the new ones
// are durable. Each partition is asked at its home core.

#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/delete_records.h"

namespace weir::catalog {
struct Topic;
}

namespace weir::handlers {

class DeleteRecordsHandler final : public Handler {
 public:
  explicit DeleteRecordsHandler(Request& request) : Handler(request) {}
  ~DeleteRecordsHandler() override;

  void start() override;

 private:
  using Response = wire::DeleteRecordsResponse;

  struct Part {
    explicit Part(DeleteRecordsHandler& owner) {
      cut.bind_reply<&DeleteRecordsHandler::on_reply>(owner);
    }
    partition::DeleteRecordsRequest cut;
    Response::Partition* out = nullptr;
    model::ErrorCode error = model::ErrorCode::none;  // known here
  };

  [[nodiscard]] bool prepare();
  void ask_topic(const wire::DeleteRecordsRequest::Topic& in, Response::Topic& out);
  void on_reply(io::Message&);
  void finish();

  wire::DeleteRecordsRequest in_;
  Response out_;
  Part* parts_ = nullptr;  // in the arena, destroyed with the handler
  size_t part_count_ = 0;
  size_t outstanding_ = 0;  // cuts away, and 1 while start() runs
};

void start_delete_records(Request& request);

}  // namespace weir::handlers
