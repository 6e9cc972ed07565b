// weir import: topics out of a log directory of Apache Kafka, with the same offsets and ids.
//
// What is made, in this order, so that an import that is interrupted has not happened:
//   1 catalog.log gives the serials of the new topics away, so that files of an import that did not
//     end are those of deleted topics, which the next start removes
//   2 directories and segments (engine/partition/segment_copy.h), all durable
//   3 meta.json counts starts up beyond every leader epoch of a batch
//   4 catalog.log has the topics: they exist

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "engine/catalog/catalog_store.h"
#include "engine/catalog/config.h"
#include "engine/catalog/topic_name.h"
#include "engine/log/file_names.h"
#include "engine/partition/segment_copy.h"
#include "io/waiter.h"
#include "tools/weir/batch_reader.h"
#include "tools/weir/commands.h"
#include "tools/weir/failure.h"
#include "tools/weir/kafka_logs.h"
#include "tools/weir/offline.h"

namespace weir::tools {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kDefaultNodeId = 1;
// Records may be as old as they like: nobody wants them deleted at the first start.
constexpr const char* kKeepAll = "-1";

struct Options {
  std::string kafka;
  std::string data = "./weir-data";
};

void check(const base::Status& status) {
  if (!status) fail("{}", status.error().detail);
}

class Import {
 public:
  Import(io::CoreIo& core, const std::string& data, KafkaLogs& logs)
      : core_(core), data_(data), logs_(logs), files_(core.loop, core.disk, data) {}

  void run() {
    read_state();
    leave_groups();
    check_new();
    model::TopicSerial serial = image_.next_serial;
    image_.next_serial =
        model::TopicSerial(serial.value() + static_cast<uint32_t>(logs_.topics.size()));
    image_.next_producer_id = std::max(image_.next_producer_id,
                                       model::ProducerId(logs_.producer_id_max + 1));
    write_catalog();
    make_directory(log::topics_directory(data_));
    check_sync(data_);
    for (const auto& [name, topic] : logs_.topics) {
      image_.changes.push_back(new_topic(name, topic, serial));
      for (const auto& [index, partition] : topic.partitions) {
        write_partition(name, {serial, model::PartitionIndex(index)}, partition);
      }
      serial = model::TopicSerial(serial.value() + 1);
    }
    check_sync(log::topics_directory(data_));
    meta_.incarnation =
        model::Incarnation(std::max(meta_.incarnation.value(), logs_.leader_epoch_max));
    meta_.catalog_created = true;
    check(catalog::store_meta(files_, meta_));
    write_catalog();
  }

 private:
  // As a start does it; a directory with nothing in it becomes one of a new node.
  void read_state() {
    const auto known = read_meta(core_, data_);
    const auto meta = catalog::load_meta(files_, core_.disk, core_.random,
                                         known ? known->node_id : kDefaultNodeId);
    if (!meta) fail("{}", meta.error().detail);
    meta_ = *meta;
    auto store = catalog::open_catalog(files_, core_.random,
                                       meta_.catalog_created ? catalog::IfMissing::refuse
                                                             : catalog::IfMissing::create);
    if (!store) fail("{}", store.error().detail);
    check(files_.close(store->file));
    tail_ = store->tail;
    image_ = std::move(store->image);
  }

  // Two sets of groups cannot become one: those that are here stay.
  void leave_groups() {
    const auto mine = [](const catalog::Change& change) {
      return change.kind == catalog::ChangeKind::create_topic &&
             change.name == catalog::kConsumerOffsetsTopic;
    };
    if (std::ranges::none_of(image_.changes, mine)) return;
    if (logs_.topics.erase(std::string(catalog::kConsumerOffsetsTopic)) == 0) return;
    fmt::print("{} skipped: {} has groups already; weir group reset sets their offsets\n",
               catalog::kConsumerOffsetsTopic, data_);
  }

  catalog::Change new_topic(const std::string& name, const KafkaTopic& topic,
                            model::TopicSerial serial) {
    catalog::Change change{.kind = catalog::ChangeKind::create_topic,
                           .name = name,
                           .overrides = {{"retention.ms", kKeepAll}}};
    // Groups with their offsets, which are in the partitions that Kafka's count says.
    if (name == catalog::kConsumerOffsetsTopic) {
      const catalog::Settings settings;
      change.internal = true;
      change.overrides = {
          {"cleanup.policy", "compact"},
          {"compression.type", "producer"},
          {"segment.bytes", std::to_string(settings.offsets_topic_segment_bytes)}};
    }
    change.serial = serial;
    change.id = topic.id.is_zero() ? catalog::random_uuid(core_.random) : topic.id;
    change.partition_count = topic.partitions.rbegin()->first + 1;
    return change;
  }

  void check_new() const {
    for (const catalog::Change& change : image_.changes) {
      if (change.kind != catalog::ChangeKind::create_topic) continue;
      if (logs_.topics.contains(change.name)) {
        fail("topic {} exists in {}: nothing was imported", change.name, data_);
      }
      for (const auto& [name, topic] : logs_.topics) {
        if (topic.id != change.id) continue;
        fail("topic {} has the id of topic {} in {}: nothing was imported", name, change.name,
             data_);
      }
    }
  }

  void write_catalog() {
    const auto bytes = catalog::encode_log(catalog::random_uuid(core_.random).bytes,
                                           ++tail_.sequence, image_);
    check(files_.replace(catalog::kCatalogFileName, bytes));
  }

  void make_directory(const std::string& path) {
    io::Waiter waiter;
    core_.disk.make_directory(waiter.op, path.c_str());
    core_.loop.run_until(waiter.op);
    const int32_t result = waiter.op.result();
    if (result < 0 && result != -EEXIST) fail("cannot make {}: {}", path, std::strerror(-result));
  }
  void check_sync(const std::string& path) {
    io::Waiter waiter;
    core_.disk.sync_directory(waiter.op, path.c_str());
    core_.loop.run_until(waiter.op);
    const int32_t result = waiter.op.result();
    if (result < 0) fail("cannot sync {}: {}", path, std::strerror(-result));
  }

  void write_partition(const std::string& topic, model::PartitionKey key,
                       const KafkaPartition& partition) {
    const std::string directory = log::partition_directory(data_, topic, key);
    fmt::print("{}-{}: ", topic, key.index.value());
    make_directory(directory);
    const auto& segments = partition.segments;
    for (size_t i = 0; i < segments.size(); ++i) {
      const bool last = i + 1 == segments.size();
      if (!last && segments[i + 1].base_offset <= partition.log_start) continue;
      write_segment(directory, segments[i],
                    last ? partition.log_end : segments[i + 1].base_offset);
    }
    if (partition.log_start > model::Offset(0)) {
      catalog::FileIo files(core_.loop, core_.disk, directory);
      check(files.replace(
          fmt::format("{:020}{}", partition.log_start.value(), log::kStartSuffix), {}));
    }
    report(partition);
  }

  // Kafka's segments may have gaps, in front of one another, too: in a cleaned segment they are
  // in order.
  void write_segment(const std::string& directory, const KafkaSegment& segment,
                     model::Offset next) {
    InputFile file(segment.path);
    partition::SegmentCopy copy(core_, directory,
                                log::SegmentName(segment.base_offset, next, model::Offset(0), 1),
                                0);
    check(copy.start());
    for (uint64_t at = 0; at < segment.valid_size;) {
      const auto bytes = sound_batch(file, at);
      if (bytes.empty()) fail("{} at position {}: changed while it was read", segment.path, at);
      check(copy.add(bytes));
      at += bytes.size();
    }
    check(copy.commit());
  }

  static void report(const KafkaPartition& partition) {
    if (partition.log_start == partition.log_end) {
      fmt::print("empty, goes on at offset {}\n", partition.log_end.value());
    } else {
      fmt::print("offsets {}..{}\n", partition.log_start.value(), partition.log_end.value() - 1);
    }
    if (!partition.cut.empty()) fmt::print("  cut: {}\n", partition.cut);
    if (partition.open_transactions == 0) return;
    fmt::print("  {} transactions are open: kafka-transactions.sh find-hanging, then abort\n",
               partition.open_transactions);
  }

  io::CoreIo& core_;
  const std::string data_;
  KafkaLogs& logs_;
  catalog::FileIo files_;
  catalog::Meta meta_;
  catalog::CatalogImage image_;
  catalog::LogTail tail_;
};

void run(const Options& options) {
  KafkaLogs logs = read_kafka_logs(normal_path(options.kafka));
  if (logs.topics.empty()) fail("{}: no topics are there", options.kafka);
  const std::string data = normal_path(options.data);
  std::error_code failure;
  fs::create_directories(data, failure);
  run_offline(data, Access::change, [&](io::CoreIo& core) { Import(core, data, logs).run(); });
  for (const std::string& line : logs.skipped) fmt::print("{}\n", line);
  fmt::print("{} topics imported; settings are not in a log directory: theirs are the defaults "
             "and retention.ms=-1, weir topic alter sets others\n",
             logs.topics.size());
}

}  // namespace

void add_import(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "import", "Topics out of a log directory of Apache Kafka, both brokers being stopped");
  command->add_option("kafka", options->kafka, "Kafka's log directory: its log.dirs")->required();
  command->add_option("--data", options->data, "Data directory, new or not")
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace weir::tools
