#include "engine/handlers/write_txn_markers.h"

#include <deque>

#include "engine/catalog/catalog.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/ports.h"
#include "engine/partition/messages.h"
#include "engine/wire/messages/write_txn_markers.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

class WriteTxnMarkersHandler final : public Handler {
 public:
  using Handler::Handler;

  void start() override {
    if (!request_.decode(in_)) return;
    out_.markers = wire::make_array<Response::Marker>(arena(), in_.markers.size());
    if (out_.markers.is_null()) return too_large();
    outstanding_ = 1;
    size_t count = 0;
    for (const auto& marker : in_.markers) {
      if (marker.topics.empty()) continue;  // nothing to say of it
      if (!add(marker, out_.markers[count++])) return too_large();
    }
    out_.markers = {out_.markers.data(), count};
    for (Part& part : parts_) send(part);
    if (--outstanding_ == 0) finish();
  }

 private:
  using Response = wire::WriteTxnMarkersResponse;

  struct Part {
    explicit Part(WriteTxnMarkersHandler& owner) {
      request.bind_reply<&WriteTxnMarkersHandler::on_reply>(owner);
    }
    partition::MarkerRequest request;
    Response::Partition* out = nullptr;
    const catalog::Topic* topic = nullptr;  // while start() runs; null: unknown
  };

  bool add(const wire::WriteTxnMarkersRequest::Marker& marker, Response::Marker& out) {
    out.producer_id = marker.producer_id;
    out.topics = wire::make_array<Response::Topic>(arena(), marker.topics.size());
    if (out.topics.is_null()) return false;
    for (size_t i = 0; i < marker.topics.size(); ++i) {
      const auto& asked = marker.topics[i];
      Response::Topic& topic = out.topics[i];
      topic.name = asked.name;
      topic.partitions =
          wire::make_array<Response::Partition>(arena(), asked.partition_indexes.size());
      if (topic.partitions.is_null()) return false;
      const catalog::Topic* const found = context().catalog.find(asked.name);
      for (size_t k = 0; k < asked.partition_indexes.size(); ++k) {
        const int32_t index = asked.partition_indexes[k];
        Part& part = parts_.emplace_back(*this);
        part.out = &topic.partitions[k];
        part.out->partition_index = index;
        if (found == nullptr || index < 0 || index >= found->partition_count) continue;
        part.topic = found;
        part.request.key = {found->serial, model::PartitionIndex(index)};
        part.request.producer_id = model::ProducerId(marker.producer_id);
        part.request.producer_epoch = model::ProducerEpoch(marker.producer_epoch);
        part.request.marker = {.commit = marker.transaction_result,
                               .coordinator_epoch = marker.coordinator_epoch};
      }
    }
    return true;
  }

  void send(Part& part) {
    if (part.topic == nullptr || part.request.producer_id.value() < 0 ||
        part.request.producer_epoch.value() < 0) {
      const ErrorCode error = part.topic == nullptr ? ErrorCode::unknown_topic_or_partition
                                                    : ErrorCode::invalid_producer_epoch;
      part.request.error = error;
      return;
    }
    ++outstanding_;
    const bool offsets = part.topic->name == catalog::kConsumerOffsetsTopic;
    const auto home = context().catalog.home_core(*part.topic, part.request.key.index);
    context().io.mailboxes.send(
        home, offsets ? model::ports::kGroupMarker : model::ports::kWriteMarker, part.request);
  }

  void on_reply(io::Message&) {
    if (--outstanding_ == 0) finish();
  }

  void finish() {
    for (const Part& part : parts_) {
      if (part.request.outcome_unknown) {
        return request_.close_connection("a storage device failed, the outcome is unknown");
      }
      part.out->error_code = static_cast<int16_t>(part.request.error);
    }
    request_.respond(out_);
  }
  void too_large() { request_.close_connection("request too large for its memory"); }

  wire::WriteTxnMarkersRequest in_;
  Response out_;
  std::deque<Part> parts_;
  size_t outstanding_ = 0;  // messages away, and 1 while start() runs
};

}  // namespace

void start_write_txn_markers(Request& request) { request.run<WriteTxnMarkersHandler>(); }

}  // namespace weir::handlers
