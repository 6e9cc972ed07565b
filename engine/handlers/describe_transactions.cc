#include "engine/handlers/describe_transactions.h"

#include <vector>

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/model/ports.h"
#include "engine/wire/messages/describe_transactions.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

// Asks one core after the other; the arena goes with the call.
class DescribeTransactionsHandler final : public Handler {
 public:
  explicit DescribeTransactionsHandler(Request& request) : Handler(request) {
    call_.bind_reply<&DescribeTransactionsHandler::on_reply>(*this);
    call_.arena = &arena();
  }

  void start() override {
    if (!request_.decode(in_)) return;
    const auto& ids = in_.transactional_ids;
    out_.transaction_states = wire::make_array<Item>(arena(), ids.size());
    if (out_.transaction_states.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      Item& item = out_.transaction_states[i];
      item.transactional_id = ids[i];
      const auto home = transaction_home(context(), ids[i]);
      if (ids[i].empty()) {
        item.error_code = static_cast<int16_t>(ErrorCode::invalid_request);
      } else if (!home) {
        item.error_code = static_cast<int16_t>(ErrorCode::transactional_id_not_found);
      } else {
        items_.add(home->core, &item);
      }
    }
    items_.sort();
    send_next();
  }

 private:
  using Item = wire::DescribeTransactionsResponse::Transaction;

  void send_next() {
    io::CoreIndex core;
    std::span<Item* const> items;
    if (!items_.next(core, items)) return request_.respond(out_);
    asked_.assign(items.begin(), items.end());
    call_.items = asked_;
    context().io.mailboxes.send(core, model::ports::kTransaction, call_);
  }
  void on_reply(io::Message&) {
    if (call_.error != ErrorCode::none) {
      for (Item* item : asked_) item->error_code = static_cast<int16_t>(call_.error);
    }
    send_next();
  }

  wire::DescribeTransactionsRequest in_;
  wire::DescribeTransactionsResponse out_;
  ItemsByCore<Item*> items_;
  std::vector<Item*> asked_;
  transaction::DescribeTransactionsCall call_;
};

}  // namespace

void start_describe_transactions(Request& request) { request.run<DescribeTransactionsHandler>(); }

}  // namespace weir::handlers
