#include "engine/handlers/join_group.h"

#include "engine/handlers/group_handler.h"

namespace weir::handlers {

namespace {

class JoinGroupHandler final
    : public OneGroupHandler<wire::JoinGroupRequest, wire::JoinGroupResponse,
                             group::JoinGroupCall> {
 public:
  using OneGroupHandler::OneGroupHandler;

 private:
  void refuse(model::ErrorCode error) override {
    out_.protocol_name = std::nullopt;
    out_.member_id = in_.member_id;
    OneGroupHandler::refuse(error);
  }
};

}  // namespace

void start_join_group(Request& request) { request.run<JoinGroupHandler>(); }

}  // namespace weir::handlers
