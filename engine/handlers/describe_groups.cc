#include "engine/handlers/describe_groups.h"

#include "engine/handlers/group_description.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class DescribeGroupsHandler final
    : public GroupDescription<wire::DescribeGroupsRequest, wire::DescribeGroupsResponse,
                              group::DescribeItem, group::DescribeGroupsCall> {
 public:
  using GroupDescription::GroupDescription;

 private:
  const Ids& ids() const override { return in_.groups; }
  ErrorCode check(std::string_view) const override { return ErrorCode::none; }
};

}  // namespace

void start_describe_groups(Request& request) { request.run<DescribeGroupsHandler>(); }

}  // namespace weir::handlers
