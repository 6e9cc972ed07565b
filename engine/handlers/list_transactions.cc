#include "engine/handlers/list_transactions.h"

#include <regex.h>

#include <string>
#include <vector>

#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/handlers/transaction_handler.h"
#include "engine/model/ports.h"
#include "engine/wire/messages/list_transactions.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr size_t kPatternSizeMax = 1024;
constexpr int kStateCount = 8;

// A pattern that must match all of an id: POSIX extended, which knows no backtracking.
class IdPattern {
 public:
  IdPattern() = default;
  IdPattern(const IdPattern&) = delete;
  ~IdPattern() {
    if (compiled_) regfree(&expression_);
  }
  // False: not a pattern.
  [[nodiscard]] bool compile(std::string_view pattern) {
    if (pattern.size() > kPatternSizeMax || pattern.find('\0') != std::string_view::npos) {
      return false;
    }
    const std::string whole = "^(" + std::string(pattern) + ")$";
    compiled_ = regcomp(&expression_, whole.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
    return compiled_;
  }
  [[nodiscard]] bool matches(std::string_view id) const {
    return !compiled_ || regexec(&expression_, std::string(id).c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t expression_{};
  bool compiled_ = false;
};

// Asks one core after the other; the arena goes with the call.
class ListTransactionsHandler final : public Handler {
 public:
  explicit ListTransactionsHandler(Request& request) : Handler(request) {
    call_.bind_reply<&ListTransactionsHandler::on_reply>(*this);
    call_.arena = &arena();
  }

  void start() override {
    if (!request_.decode(in_)) return;
    const std::string_view pattern = in_.transactional_id_pattern.value_or("");
    if (!pattern.empty() && !pattern_.compile(pattern)) {
      return respond(ErrorCode::invalid_regular_expression);
    }
    if (!in_.state_filters.empty()) filter_states();
    call_.producer_ids = {in_.producer_id_filters.data(), in_.producer_id_filters.size()};
    call_.duration_ms = in_.duration_filter;
    ask_next();
  }

 private:
  using Response = wire::ListTransactionsResponse;

  void filter_states() {
    call_.states = 0;
    for (const std::string_view text : in_.state_filters) {
      int number = 0;
      while (number < kStateCount &&
             name(static_cast<transaction::TransactionState>(number)) != text) {
        ++number;
      }
      if (number == kStateCount) {
        unknown_.push_back(text);
      } else {
        call_.states = static_cast<uint8_t>(call_.states | 1u << number);
      }
    }
  }

  void ask_next() {
    context().io.mailboxes.send(io::CoreIndex(next_core_++), model::ports::kTransaction, call_);
  }

  void on_reply(io::Message&) {
    // One core that cannot answer makes the list incomplete: said, and retried by clients.
    if (call_.error != ErrorCode::none) return respond(call_.error);
    for (const Response::Transaction& item : call_.found) {
      if (pattern_.matches(item.transactional_id)) found_.push_back(item);
    }
    if (next_core_ < context().io.core_count) return ask_next();
    respond(ErrorCode::none);
  }

  void respond(ErrorCode error) {
    Response out;
    out.error_code = static_cast<int16_t>(error);
    if (error == ErrorCode::none) {
      out.unknown_state_filters = {unknown_.data(), unknown_.size()};
      out.transaction_states = {found_.data(), found_.size()};
    }
    request_.respond(out);
  }

  wire::ListTransactionsRequest in_;
  IdPattern pattern_;
  std::vector<std::string_view> unknown_;
  std::vector<Response::Transaction> found_;
  transaction::ListTransactionsCall call_;
  uint16_t next_core_ = 0;
};

}  // namespace

void start_list_transactions(Request& request) { request.run<ListTransactionsHandler>(); }

}  // namespace weir::handlers
