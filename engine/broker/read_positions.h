#pragma once
// GroupPositions: what groups have committed for the partitions of one core, asked from the
// coordinators of all cores, for retention (partition/read_positions.h). One per core; answers the
// other cores too (model/ports.h: kReadPositions).

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/group/group_coordinator.h"
#include "engine/partition/read_positions.h"
#include "io/core_io.h"
#include "io/mailbox.h"

namespace weir::broker {

// To each core in turn; comes back with what its groups have committed for partitions of `home`.
class PositionsCall : public io::Message {
 public:
  io::CoreIndex home{0};
  std::vector<std::pair<model::PartitionKey, partition::ReadPosition>> found;
};

class GroupPositions final : public partition::ReadPositions {
 public:
  // `holding`: names separated by commas. All outlive it.
  GroupPositions(io::CoreIo& io, const catalog::Catalog& catalog, group::GroupCoordinator& groups,
                 std::string_view holding);
  GroupPositions(const GroupPositions&) = delete;

  // partition::ReadPositions
  void update(io::Op& done) override;
  std::span<const partition::ReadPosition> of(model::PartitionKey key) const override;

 private:
  void on_asked(io::Message& message);
  void on_reply(io::Message& message);
  void ask();

  io::CoreIo& io_;
  const catalog::Catalog& catalog_;
  group::GroupCoordinator& groups_;
  std::set<std::string, std::less<>> holding_;
  std::unordered_map<model::PartitionKey, std::vector<partition::ReadPosition>> positions_;
  PositionsCall call_;
  uint16_t next_core_ = 0;
  io::Op* done_ = nullptr;
};

}  // namespace weir::broker
