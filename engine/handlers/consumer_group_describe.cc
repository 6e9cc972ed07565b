#include "engine/handlers/consumer_group_describe.h"

#include "engine/handlers/group_description.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class ConsumerGroupDescribeHandler final
    : public GroupDescription<wire::ConsumerGroupDescribeRequest,
                              wire::ConsumerGroupDescribeResponse, group::ConsumerDescribeItem,
                              group::ConsumerGroupDescribeCall> {
 public:
  using GroupDescription::GroupDescription;

 private:
  const Ids& ids() const override { return in_.group_ids; }
  ErrorCode check(std::string_view id) const override {
    return id.empty() ? ErrorCode::invalid_group_id : ErrorCode::none;
  }
};

}  // namespace

void start_consumer_group_describe(Request& request) {
  request.run<ConsumerGroupDescribeHandler>();
}

}  // namespace weir::handlers
