#pragma once
// BatchValidator: what a producer may send (SCOPE 6), checked on the core of the connection before
// the batch travels to its partition.
//
// Per partition exactly one batch of format 2. Its CRC, header and every record are checked;
// compressed records are inflated in a stream for that and stay compressed as sent. What the broker
// must change is changed in place, under a new CRC: the maximum timestamp where the producer left
// it wrong, timestamp type and time on topics with LogAppendTime. Base offset and leader epoch are
// the partition's. A topic that asks for a codec of its own gets the records in it, in a batch that
// is no larger than any other may be.
//
// Where Kafka accepts what makes no sense we refuse it: bytes behind the batch, inner offsets with
// gaps or out of order, key lengths below -1, producer ids below -1, a delete horizon.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/log/deflater.h"
#include "engine/log/inflater.h"
#include "engine/log/record_batch.h"
#include "engine/model/error_code.h"

namespace weir::log {

struct BatchRules {
  size_t batch_size_max = 1'048'588;  // max.message.bytes
  size_t segment_size = 1'073'741'824;
  bool keys_required = false;         // compacted topic
  bool append_time = false;           // message.timestamp.type = LogAppendTime
  bool zstd_allowed = true;           // Produce 7 and later
  int64_t now_ms = 0;
  int64_t timestamp_before_max_ms = INT64_MAX;
  int64_t timestamp_after_max_ms = INT64_MAX;
  // compression.type: what batches are stored in, whatever the producer chose; none: his choice.
  std::optional<CompressionTarget> compression{};
};

struct BatchVerdict {
  model::ErrorCode error = model::ErrorCode::none;
  // Kafka looks at framing, size and CRC before it knows the log: only later errors are answered
  // with the partition's log start offset.
  bool with_log_start_offset = false;
  std::string_view message;               // for people; static storage
  std::span<const int32_t> bad_records;   // first kBadRecordsMax; until the next validate()
  // Without error:
  std::span<std::byte> batch;
  bool recompressed = false;  // batch is the validator's memory, until the next validate()
  int32_t record_count = 0;
  int64_t max_timestamp = model::kNoTimestamp;
};

class BatchValidator {
 public:
  static constexpr size_t kBadRecordsMax = 1000;

  // `records`: all that a Produce request has for one partition; may be changed where it is
  // accepted.
  [[nodiscard]] BatchVerdict validate(std::span<std::byte> records, const BatchRules& rules);

 private:
  static constexpr size_t kWindowSize = size_t{64} << 10;

  static constexpr size_t kKeptSizeMax = size_t{2} << 20;

  bool recompress(const BatchView& batch, int16_t attributes, const BatchRules& rules,
                  BatchVerdict& verdict);
  Deflater::Status deflate_records(const BatchView& batch, size_t& size);
  bool check_records(const BatchView& batch, const BatchRules& rules, BatchVerdict& verdict);

  Inflater inflater_;
  Deflater deflater_;
  std::vector<std::byte> recompressed_;
  std::unique_ptr<std::array<std::byte, kWindowSize>> window_;  // of inflated records, when needed
  std::vector<int32_t> bad_records_;
};

}  // namespace weir::log
