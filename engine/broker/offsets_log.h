#pragma once
// OffsetsLog: the partitions of __consumer_offsets whose home is this core, as the group
// coordinator writes them. Owned by Core.

#include <memory>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/group/group_log.h"
#include "engine/partition/messages.h"
#include "io/core_io.h"

namespace weir::broker {

inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";

class OffsetsLog : public group::GroupLog {
 public:
  OffsetsLog(io::CoreIo& io, const catalog::Catalog& catalog) : io_(io), catalog_(catalog) {}

  void append(group::GroupAppend& append) override;

 private:
  struct Write {
    explicit Write(OffsetsLog& its_owner) : owner(its_owner) {
      request.bind_reply<&Write::on_reply>(*this);
    }
    void on_reply(io::Message& message);

    OffsetsLog& owner;
    partition::AppendRequest request;
    group::GroupAppend* append = nullptr;
  };

  io::CoreIo& io_;
  const catalog::Catalog& catalog_;
  std::vector<std::unique_ptr<Write>> writes_;
  std::vector<Write*> free_;
};

}  // namespace weir::broker
