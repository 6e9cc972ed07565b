#include "engine/handlers/describe_producers.h"

#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/ports.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/describe_producers.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

// One partition after the other: whoever is asked places its answer in the request's arena.
class DescribeProducersHandler final : public Handler {
 public:
  explicit DescribeProducersHandler(Request& request) : Handler(request) {
    call_.bind_reply<&DescribeProducersHandler::on_reply>(*this);
    call_.arena = &arena();
  }

  void start() override {
    if (!request_.decode(in_)) return;
    out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
    if (out_.topics.is_null()) return too_large();
    for (size_t i = 0; i < in_.topics.size(); ++i) {
      const auto& asked = in_.topics[i];
      out_.topics[i].name = asked.name;
      out_.topics[i].partitions =
          wire::make_array<Response::Partition>(arena(), asked.partition_indexes.size());
      if (out_.topics[i].partitions.is_null()) return too_large();
      for (size_t k = 0; k < asked.partition_indexes.size(); ++k) {
        out_.topics[i].partitions[k].partition_index = asked.partition_indexes[k];
        items_.push_back({asked.name, &out_.topics[i].partitions[k]});
      }
    }
    next();
  }

 private:
  using Response = wire::DescribeProducersResponse;
  struct Item {
    std::string_view topic;
    Response::Partition* out;
  };

  void next() {
    for (; position_ < items_.size(); ++position_) {
      const Item& item = items_[position_];
      const int32_t index = item.out->partition_index;
      const catalog::Topic* const topic = context().catalog.find(item.topic);
      if (topic == nullptr || index < 0 || index >= topic->partition_count) {
        const bool illegal = catalog::topic_name_fault(item.topic).has_value();
        item.out->error_code =
            static_cast<int16_t>(illegal ? ErrorCode::invalid_topic_exception
                                         : ErrorCode::unknown_topic_or_partition);
        continue;
      }
      call_.key = {topic->serial, model::PartitionIndex(index)};
      call_.error = ErrorCode::none;
      call_.producers = {};
      return context().io.mailboxes.send(context().catalog.home_core(*topic, call_.key.index),
                                         model::ports::kDescribeProducers, call_);
    }
    request_.respond(out_);
  }

  void on_reply(io::Message&) {
    Response::Partition& out = *items_[position_++].out;
    out.error_code = static_cast<int16_t>(call_.error);
    out.active_producers =
        wire::make_array<Response::Producer>(arena(), call_.producers.size());
    if (out.active_producers.is_null()) return too_large();
    for (size_t i = 0; i < call_.producers.size(); ++i) {
      const partition::ProducerInfo& from = call_.producers[i];
      out.active_producers[i] = {.producer_id = from.producer_id.value(),
                                 .producer_epoch = from.epoch,
                                 .last_sequence = from.last_sequence,
                                 .last_timestamp = from.last_timestamp,
                                 .coordinator_epoch = from.coordinator_epoch,
                                 .current_txn_start_offset = from.transaction_first_offset};
    }
    next();
  }
  void too_large() { request_.close_connection("request too large for its memory"); }

  wire::DescribeProducersRequest in_;
  Response out_;
  std::vector<Item> items_;
  size_t position_ = 0;
  partition::ProducersRequest call_;
};

}  // namespace

void start_describe_producers(Request& request) { request.run<DescribeProducersHandler>(); }

}  // namespace weir::handlers
