#pragma once
// What the handlers of transaction APIs have in common: the way to a transactional id's home core,
// which is the home core of its partition of __transaction_state, and how errors are said in older
// versions.

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/transaction/messages.h"

namespace weir::handlers {

// False: there is no topic of transaction states yet, so no id is known. The call's reply is bound.
[[nodiscard]] bool send_to_coordinator(Context& context, transaction::TransactionCall& call);
// Which partition of __transaction_state, and whose home core, an id belongs to.
struct TransactionHome {
  model::PartitionIndex partition;
  io::CoreIndex core;
};
[[nodiscard]] std::optional<TransactionHome> transaction_home(const Context& context,
                                                              std::string_view transactional_id);

// Makes the topic of transaction states where it is not there yet.
class StateTopic {
 public:
  // (owner.*Method)() runs when the topic is there or could not be made: see exists(). At once when
  // it is there already.
  template <auto Method, class Owner>
  void ensure(Context& context, Owner& owner) {
    if (exists(context)) return (owner.*Method)();
    changes_.bind<Method>(owner);
    create(context);
  }
  [[nodiscard]] static bool exists(const Context& context);

 private:
  void create(Context& context);
  CatalogChanges changes_;
};

// PRODUCER_FENCED is unknown to older versions, which know INVALID_PRODUCER_EPOCH (KIP-588).
[[nodiscard]] inline model::ErrorCode fenced_in(model::ErrorCode error, bool knows_fenced) {
  const bool replace = error == model::ErrorCode::producer_fenced && !knows_fenced;
  return replace ? model::ErrorCode::invalid_producer_epoch : error;
}
// TRANSACTION_ABORTABLE likewise (KIP-890).
[[nodiscard]] inline model::ErrorCode abortable_in(model::ErrorCode error, bool knows_abortable) {
  const bool replace = error == model::ErrorCode::transaction_abortable && !knows_abortable;
  return replace ? model::ErrorCode::invalid_txn_state : error;
}

inline constexpr std::string_view kTransactionOutcomeUnknown =
    "the outcome of a write to __transaction_state is unknown";

}  // namespace weir::handlers
