#include "engine/handlers/describe_log_dirs.h"

#include <deque>
#include <set>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/model/ports.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/describe_log_dirs.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::DescribeLogDirsResponse;

namespace {

// Asks every home core once, for all of its partitions.
class DescribeLogDirsHandler final : public Handler {
 public:
  explicit DescribeLogDirsHandler(Request& request) : Handler(request) {}

  void start() override {
    if (!request_.decode(in_)) return;
    for (uint16_t i = 0; i < context().io.core_count; ++i) {
      cores_.emplace_back().request.bind_reply<&DescribeLogDirsHandler::on_reply>(*this);
    }
    if (in_.topics.is_null()) {
      for (const catalog::Topic& topic : context().catalog.topics()) want_all(topic);
    } else {
      want_named();
    }
    outstanding_ = 1;
    for (uint16_t i = 0; i < cores_.size(); ++i) {
      Core& core = cores_[i];
      if (core.items.empty()) continue;
      core.request.items = core.items;
      ++outstanding_;
      context().io.mailboxes.send(io::CoreIndex(i), model::ports::kLogSizes, core.request);
    }
    if (--outstanding_ == 0) respond();
  }

 private:
  struct Core {
    std::vector<partition::LogSizeItem> items;
    partition::LogSizesRequest request;
  };
  // Where the answer for a partition will be: in the order of its topic.
  struct Place {
    uint16_t core;
    size_t item;
  };
  struct Wanted {
    std::string name;
    std::vector<Place> places;
  };

  void want_all(const catalog::Topic& topic) {
    Wanted& wanted = wanted_.emplace_back(topic.name);
    for (int32_t i = 0; i < topic.partition_count; ++i) want(topic, i, wanted);
  }

  // A partition that is not there is left out; one that is named twice is answered once.
  void want_named() {
    std::set<std::pair<std::string_view, int32_t>> seen;
    for (const auto& asked : in_.topics) {
      const catalog::Topic* const topic = context().catalog.find(asked.topic);
      if (topic == nullptr) continue;
      Wanted& wanted = wanted_.emplace_back(topic->name);
      for (const int32_t index : asked.partitions) {
        if (index < 0 || index >= topic->partition_count) continue;
        if (seen.emplace(asked.topic, index).second) want(*topic, index, wanted);
      }
    }
  }

  void want(const catalog::Topic& topic, int32_t index, Wanted& wanted) {
    const model::PartitionIndex partition(index);
    const uint16_t home = context().catalog.home_core(topic, partition).value();
    std::vector<partition::LogSizeItem>& items = cores_[home].items;
    wanted.places.push_back({home, items.size()});
    items.push_back({.key = {topic.serial, partition}});
  }

  void on_reply(io::Message&) {
    if (--outstanding_ == 0) respond();
  }

  void respond() {
    Response out;
    Response::LogDir dir;
    dir.log_dir = context().node.log_dir;
    const auto total = context().io.disk.total_bytes(context().node.log_dir);
    const auto usable = context().io.disk.free_bytes(context().node.log_dir);
    if (total && usable) {
      dir.total_bytes = static_cast<int64_t>(*total);
      dir.usable_bytes = static_cast<int64_t>(*usable);
      if (!fill(dir)) return request_.close_connection("request too large for its memory");
    } else {
      dir.error_code = static_cast<int16_t>(ErrorCode::kafka_storage_error);
    }
    out.results = {&dir, 1};
    request_.respond(out);
  }

  // False: the arena is full.
  bool fill(Response::LogDir& dir) {
    dir.topics = wire::make_array<Response::Topic>(arena(), wanted_.size());
    if (dir.topics.is_null()) return false;
    size_t topics = 0;
    for (const Wanted& wanted : wanted_) {
      Response::Topic& topic = dir.topics[topics];
      topic.name = wanted.name;
      topic.partitions = wire::make_array<Response::Partition>(arena(), wanted.places.size());
      if (topic.partitions.is_null()) return false;
      size_t count = 0;
      for (const Place& place : wanted.places) {
        const partition::LogSizeItem& item = cores_[place.core].items[place.item];
        if (item.size_bytes < 0) continue;  // deleted meanwhile
        topic.partitions[count++] = {.partition_index = item.key.index.value(),
                                     .partition_size = item.size_bytes};
      }
      topic.partitions = {topic.partitions.data(), count};
      if (count > 0) ++topics;
    }
    dir.topics = {dir.topics.data(), topics};
    return true;
  }

  wire::DescribeLogDirsRequest in_;
  std::deque<Core> cores_;  // messages keep their place
  std::deque<Wanted> wanted_;
  size_t outstanding_ = 0;  // messages away, and 1 while start() runs
};

}  // namespace

void start_describe_log_dirs(Request& request) { request.run<DescribeLogDirsHandler>(); }

}  // namespace weir::handlers
