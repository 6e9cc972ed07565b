#include "engine/handlers/offset_fetch.h"

#include "engine/handlers/context.h"
#include "engine/handlers/group_handler.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int16_t kVersionManyGroups = 8;
constexpr int16_t kVersionTopicIds = 10;

// All versions are answered in the form of 8: groups, each with topics that have name and id.
class OffsetFetchHandler final : public GroupHandler {
 public:
  explicit OffsetFetchHandler(Request& request) : GroupHandler(request) {
    call_.bind_reply<&OffsetFetchHandler::on_reply>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    if (request_.api_version() < kVersionManyGroups && !take_old_form()) return too_large();
    answers_ = wire::make_array<Answer::Group>(arena(), in_.groups.size());
    if (answers_.is_null()) return too_large();
    with_offsets_topic();
  }

 private:
  using Asked = wire::OffsetFetchRequest;
  using Answer = wire::OffsetFetchResponse;

  bool take_old_form() {
    in_.groups = wire::make_array<Asked::Group>(arena(), 1);
    if (in_.groups.is_null()) return false;
    Asked::Group& group = in_.groups[0];
    group.group_id = in_.group_id;
    if (in_.topics.is_null()) {
      group.topics = wire::Array<Asked::GroupTopic>::null();
      return true;
    }
    group.topics = wire::make_array<Asked::GroupTopic>(arena(), in_.topics.size());
    if (group.topics.is_null()) return false;
    for (size_t i = 0; i < in_.topics.size(); ++i) {
      group.topics[i].name = in_.topics[i].name;
      group.topics[i].partition_indexes = in_.topics[i].partition_indexes;
    }
    return true;
  }

  void proceed() override {
    // What the home cores are asked: only topics that have a name.
    known_ = wire::make_array<Asked::Group>(arena(), in_.groups.size());
    if (known_.is_null()) return too_large();
    for (size_t i = 0; i < in_.groups.size(); ++i) {
      known_[i] = in_.groups[i];
      answers_[i].group_id = in_.groups[i].group_id;
      if (!in_.groups[i].topics.is_null() && !translate(known_[i])) return too_large();
      items_.add(core_of(known_[i].group_id), {.group = &known_[i], .answer = &answers_[i]});
    }
    call_.require_stable = in_.require_stable;
    items_.sort();
    send_next();
  }

  // Names from ids (version 10), ids from names; leaves out what the catalog does not know by id.
  bool translate(Asked::Group& group) {
    const auto asked = group.topics;
    group.topics = wire::make_array<Asked::GroupTopic>(arena(), asked.size());
    if (group.topics.is_null()) return false;
    size_t count = 0;
    for (const auto& topic : asked) {
      Asked::GroupTopic& known = group.topics[count];
      known = topic;
      const catalog::Catalog& catalog = context().catalog;
      if (by_id()) {
        const catalog::Topic* const found = catalog.find(topic.topic_id);
        if (found == nullptr) continue;
        // The home core answers in another turn: a copy of the name outlives the topic.
        char* const name = arena().make_array<char>(found->name.size());
        if (name == nullptr) return false;
        std::ranges::copy(found->name, name);
        known.name = {name, found->name.size()};
      } else if (const catalog::Topic* found = catalog.find(topic.name)) {
        known.topic_id = found->id;
      }
      ++count;
    }
    group.topics = {group.topics.data(), count};
    return true;
  }

  void send_next() {
    io::CoreIndex core;
    if (items_.next(core, call_.items)) return send_to(call_, core);
    respond();
  }
  void on_reply(io::Message&) { send_next(); }

  void refuse(ErrorCode error) override {
    for (size_t i = 0; i < in_.groups.size(); ++i) {
      answers_[i].group_id = in_.groups[i].group_id;
      answers_[i].error_code = static_cast<int16_t>(error);
    }
    respond();
  }

  void respond() {
    for (size_t i = 0; i < in_.groups.size(); ++i) {
      const bool complete = in_.groups[i].topics.is_null() ? drop_other_lives(answers_[i])
                                                           : complete_topics(i, answers_[i]);
      if (!complete) return too_large();
    }
    Answer out;
    if (request_.api_version() >= kVersionManyGroups) {
      out.groups = answers_;
    } else if (!to_old_form(answers_[0], out)) {
      return too_large();
    }
    request_.respond(out);
  }

  // Of "all partitions": offsets of a topic that is gone or another one by now are no use to
  // anybody who asks by id, and misleading by name.
  bool drop_other_lives(Answer::Group& group) {
    size_t count = 0;
    for (auto& topic : group.topics) {
      const catalog::Topic* const now = context().catalog.find(topic.name);
      const bool other = now != nullptr && !topic.topic_id.is_zero() && topic.topic_id != now->id;
      if (other || (by_id() && now == nullptr)) continue;
      if (now != nullptr) topic.topic_id = now->id;
      group.topics[count++] = topic;
    }
    group.topics = {group.topics.data(), count};
    return true;
  }

  // Every topic that was asked for, in its order; with the group's error where there is one, so
  // that no version can take -1 for "nothing committed" (C14).
  bool complete_topics(size_t index, Answer::Group& group) {
    const auto& asked = in_.groups[index].topics;
    const auto answered = group.topics;
    size_t next = 0;
    group.topics = wire::make_array<Answer::GroupTopic>(arena(), asked.size());
    if (group.topics.is_null()) return false;
    for (size_t i = 0; i < asked.size(); ++i) {
      const bool known = !by_id() || is_known(known_, index, next, asked[i].topic_id);
      if (group.error_code == 0 && known) {
        group.topics[i] = answered[next++];
        continue;
      }
      const auto unknown = static_cast<int16_t>(ErrorCode::unknown_topic_id);
      if (!fill_error(asked[i], group.error_code != 0 ? group.error_code : unknown,
                      group.topics[i])) {
        return false;
      }
    }
    return true;
  }

  static bool is_known(const wire::Array<Asked::Group>& known, size_t index, size_t next,
                       const base::Uuid& topic_id) {
    return index < known.size() && next < known[index].topics.size() &&
           known[index].topics[next].topic_id == topic_id;
  }

  bool fill_error(const Asked::GroupTopic& asked, int16_t error, Answer::GroupTopic& out) {
    out.name = asked.name;
    out.topic_id = asked.topic_id;
    out.partitions =
        wire::make_array<Answer::GroupPartition>(arena(), asked.partition_indexes.size());
    if (out.partitions.is_null()) return false;
    for (size_t k = 0; k < out.partitions.size(); ++k) {
      out.partitions[k].partition_index = asked.partition_indexes[k];
      out.partitions[k].committed_offset = -1;
      out.partitions[k].error_code = error;
    }
    return true;
  }

  bool to_old_form(const Answer::Group& group, Answer& out) {
    out.error_code = group.error_code;
    out.topics = wire::make_array<Answer::Topic>(arena(), group.topics.size());
    if (out.topics.is_null()) return false;
    for (size_t i = 0; i < group.topics.size(); ++i) {
      const auto& from = group.topics[i].partitions;
      out.topics[i].name = group.topics[i].name;
      out.topics[i].partitions = wire::make_array<Answer::Partition>(arena(), from.size());
      if (out.topics[i].partitions.is_null()) return false;
      for (size_t k = 0; k < from.size(); ++k) {
        out.topics[i].partitions[k] = {.partition_index = from[k].partition_index,
                                       .committed_offset = from[k].committed_offset,
                                       .committed_leader_epoch = from[k].committed_leader_epoch,
                                       .metadata = from[k].metadata,
                                       .error_code = from[k].error_code};
      }
    }
    return true;
  }

  bool by_id() const { return request_.api_version() >= kVersionTopicIds; }
  void too_large() { request_.close_connection("request too large for its memory"); }

  Asked in_;
  wire::Array<Asked::Group> known_;
  wire::Array<Answer::Group> answers_;
  ItemsByCore<group::FetchItem> items_;
  group::OffsetFetchCall call_;
};

}  // namespace

void start_offset_fetch(Request& request) { request.run<OffsetFetchHandler>(); }

}  // namespace weir::handlers
