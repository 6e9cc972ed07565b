#pragma once
// GroupHandler: what the handlers of group APIs have in common: the way to a group's home core,
// which is the home core of its partition of __consumer_offsets. The first request that needs the
// topic creates it.

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/group/messages.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"

namespace weir::handlers {

class GroupHandler : public Handler {
 public:
  explicit GroupHandler(Request& request) : Handler(request) {
    changes_.bind<&GroupHandler::on_topic_created>(*this);
  }

 protected:
  // proceed() once there is the topic, or refuse() when it cannot be had.
  void with_offsets_topic();
  virtual void proceed() = 0;
  virtual void refuse(model::ErrorCode error) = 0;

  // Only inside proceed() and replies to calls: the topic exists and is never deleted.
  [[nodiscard]] model::PartitionIndex partition_of(std::string_view group_id) const;
  [[nodiscard]] io::CoreIndex core_of(std::string_view group_id) const;
  // Its partition of __consumer_offsets.
  [[nodiscard]] model::PartitionKey offsets_key_of(std::string_view group_id) const;

  // Fills in what every call says of its client. The reply is bound already.
  void prepare(group::GroupCall& call);
  void send(group::GroupCall& call, std::string_view group_id);
  void send_to(group::GroupCall& call, io::CoreIndex core);
  // The call is back: true when it may be answered. Otherwise the connection is being closed,
  // because nobody knows what a failed device has kept (RELIABILITY 2.5).
  [[nodiscard]] bool has_outcome(const group::GroupCall& call);

 private:
  [[nodiscard]] const catalog::Topic* offsets_topic() const;
  void on_topic_created();

  CatalogChanges changes_;
};

// Items of one request, core after core: a request has one call away at a time, because the core
// that has it owns the arena.
template <class Item>
class ItemsByCore {
 public:
  void add(io::CoreIndex core, const Item& item) { parts_.emplace_back(core, item); }
  // Order within a core does not matter: every item says where its answer goes.
  void sort() {
    std::ranges::sort(parts_, {}, &Part::first);
    for (const Part& part : parts_) items_.push_back(part.second);
  }
  // The items of the next core; false when there is none left.
  bool next(io::CoreIndex& core, std::span<const Item>& items) {
    if (position_ == parts_.size()) return false;
    const size_t begin = position_;
    core = parts_[begin].first;
    while (position_ < parts_.size() && parts_[position_].first == core) ++position_;
    items = std::span(items_).subspan(begin, position_ - begin);
    return true;
  }

 private:
  using Part = std::pair<io::CoreIndex, Item>;
  std::vector<Part> parts_;
  std::vector<Item> items_;
  size_t position_ = 0;
};

// One request, one group, one call, one response: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.
template <class Request_, class Response, class Call>
class OneGroupHandler : public GroupHandler {
 public:
  explicit OneGroupHandler(Request& request) : GroupHandler(request) {
    call_.template bind_reply<&OneGroupHandler::on_reply>(*this);
  }
  void start() override {
    if (request_.decode(in_)) with_offsets_topic();
  }

 protected:
  void proceed() override {
    call_.request = &in_;
    call_.response = &out_;
    send(call_, in_.group_id);
  }
  void refuse(model::ErrorCode error) override {
    out_.error_code = static_cast<int16_t>(error);
    request_.respond(out_);
  }

  Request_ in_;
  Response out_;

 private:
  void on_reply(io::Message&) {
    if (has_outcome(call_)) request_.respond(out_);
  }

  Call call_;
};

}  // namespace weir::handlers
