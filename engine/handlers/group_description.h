#pragma once
// GroupDescription: DescribeGroups and ConsumerGroupDescribe, which differ in their messages and in
// which ids they take: every group is described on its home core, core after core.

#include "engine/handlers/authorized_operations.h"
#include "engine/handlers/group_handler.h"

namespace weir::handlers {

template <class RequestMessage, class Response, class Item, class Call>
class GroupDescription : public GroupHandler {
 public:
  explicit GroupDescription(Request& request) : GroupHandler(request) {
    call_.template bind_reply<&GroupDescription::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.groups = wire::make_array<typename Response::Group>(arena(), ids().size());
    if (out_.groups.is_null()) return request_.close_connection("request too large for its memory");
    for (size_t i = 0; i < ids().size(); ++i) out_.groups[i].group_id = ids()[i];
    with_offsets_topic();
  }

 protected:
  using Ids = wire::Array<std::string_view>;
  [[nodiscard]] virtual const Ids& ids() const = 0;
  // An error for a group that is not even looked for; none: it is.
  [[nodiscard]] virtual model::ErrorCode check(std::string_view id) const = 0;

  RequestMessage in_;

 private:
  void proceed() override {
    for (size_t i = 0; i < ids().size(); ++i) {
      const model::ErrorCode error = check(ids()[i]);
      if (error == model::ErrorCode::none) {
        items_.add(core_of(ids()[i]), {.group_id = ids()[i], .answer = &out_.groups[i]});
      } else {
        out_.groups[i].error_code = static_cast<int16_t>(error);
      }
    }
    items_.sort();
    send_next();
  }

  void send_next() {
    io::CoreIndex core;
    if (items_.next(core, call_.items)) return send_to(call_, core);
    if (in_.include_authorized_operations) {
      for (auto& group : out_.groups) {
        if (group.error_code == 0) group.authorized_operations = kGroupOperations;
      }
    }
    request_.respond(out_);
  }
  void on_reply(io::Message&) { send_next(); }

  void refuse(model::ErrorCode error) override {
    for (auto& group : out_.groups) group.error_code = static_cast<int16_t>(error);
    request_.respond(out_);
  }

  Response out_;
  ItemsByCore<Item> items_;
  Call call_;
};

}  // namespace weir::handlers
