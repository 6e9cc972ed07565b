#include "engine/handlers/transaction_handler.h"

#include "engine/catalog/change_rules.h"
#include "engine/catalog/topic_name.h"
#include "engine/group/group_partition.h"
#include "engine/handlers/context.h"
#include "engine/model/ports.h"

namespace weir::handlers {

std::optional<TransactionHome> transaction_home(const Context& context,
                                                std::string_view transactional_id) {
  const catalog::Topic* const topic = context.catalog.find(catalog::kTransactionStateTopic);
  if (topic == nullptr) return std::nullopt;
  // The same function of the id as for groups.
  const model::PartitionIndex partition =
      group::offsets_partition_of(transactional_id, topic->partition_count);
  return TransactionHome{partition, context.catalog.home_core(*topic, partition)};
}

bool send_to_coordinator(Context& context, transaction::TransactionCall& call) {
  const auto home = transaction_home(context, call.transactional_id);
  if (!home) return false;
  call.state_partition = home->partition;
  context.io.mailboxes.send(home->core, model::ports::kTransaction, call);
  return true;
}

bool StateTopic::exists(const Context& context) {
  return context.catalog.find(catalog::kTransactionStateTopic) != nullptr;
}

void StateTopic::create(Context& context) {
  catalog::fill_internal_topic(context.catalog.settings(), catalog::kTransactionStateTopic,
                               changes_.add());
  changes_.send(context.io);
}

}  // namespace weir::handlers
