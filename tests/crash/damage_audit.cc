#include "tests/crash/damage_audit.h"

#include <fmt/format.h>

#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;

// Takes the records of one answer; returns where to read on, or -1.
int64_t take_records(int32_t partition, int64_t from, ByteSpan bytes, Audit& audit) {
  int64_t next = from;
  while (const auto batch = take_batch(bytes)) {
    const auto records = read_records(*batch);
    if (!batch->checksum_matches() || !records || batch->next_offset() <= next) {
      audit.fault = fmt::format("a batch that is none at {}-{}", partition, batch->base_offset);
      return -1;
    }
    for (const auto& [offset, record] : *records) {
      const auto id = number_of(record.value);
      if (!id) audit.fault = fmt::format("no record of ours at {}-{}", partition, offset);
      else if (offset >= from) audit.records[{partition, offset}] = *id;
    }
    next = batch->next_offset();
  }
  return next;
}

// From `offset` on; where to go on, or -1.
int64_t read_on(WireConnection& connection, int32_t partition, int64_t offset, Audit& audit) {
  const FetchPart part{.where = {kTopic, partition}, .offset = offset};
  const auto answer = connection.ask(Api::fetch, 11, fetch_request({}, {&part, 1}));
  if (!answer) {
    audit.fault = fmt::format("no answer at {}-{}", partition, offset);
    return -1;
  }
  Reader body(*answer);
  const FetchResult result = read_fetch(body)[part.where];
  if (result.error == codes::kStorageError) {
    audit.refused.insert({partition, offset});
    return offset + 1;
  }
  if (result.error != 0) {
    audit.fault = fmt::format("error {} at {}-{}", result.error, partition, offset);
    return -1;
  }
  audit.ends[partition] = result.high_watermark;
  const int64_t next = take_records(partition, offset, result.records, audit);
  if (next == offset && offset < result.high_watermark) {
    audit.fault = fmt::format("nothing and no error at {}-{}", partition, offset);
    return -1;
  }
  return next;
}

}  // namespace

Audit audit(uint16_t port) {
  Audit audit;
  WireConnection connection(port);
  for (int32_t partition = 0; partition < kPartitions && audit.fault.empty(); ++partition) {
    const TopicPartition where{kTopic, partition};
    const auto answer =
        connection.ask(Api::list_offsets, 2, list_offsets_request(2, kLatest, {&where, 1}));
    if (!answer) {
      audit.fault = fmt::format("no offsets of partition {}", partition);
      break;
    }
    Reader body(*answer);
    audit.ends[partition] = read_list_offsets(2, body)[where].offset;
    for (int64_t at = 0; at >= 0 && at < audit.ends[partition];) {
      at = read_on(connection, partition, at, audit);
    }
  }
  return audit;
}

std::string compare(const std::map<Load::Place, uint64_t>& acked, const Audit& audit) {
  if (!audit.fault.empty()) return audit.fault;
  for (const auto& [place, id] : audit.records) {
    const auto known = acked.find(place);
    if (known == acked.end() || known->second == id) continue;
    return fmt::format("record {} is served at {}-{}, where {} was acknowledged", id, place.first,
                       place.second, known->second);
  }
  for (const auto& [place, id] : acked) {
    if (audit.records.contains(place) || audit.refused.contains(place)) continue;
    return fmt::format("record {} of {}-{} is neither served nor refused", id, place.first,
                       place.second);
  }
  return {};
}

}  // namespace weir::crashtest
