#pragma once
// What tools ask about groups: DescribeGroups and ListGroups of one core.

#include "engine/group/group_table.h"
#include "engine/group/messages.h"

namespace weir::group {

void describe_groups(const GroupTable& table, DescribeGroupsCall& call);
void list_groups(GroupTable& table, ListGroupsCall& call);

}  // namespace weir::group
