#include "engine/log/batch_validator.h"

#include <algorithm>
#include <cstring>

#include "io/base/varint.h"

namespace weir::log {

namespace {

using model::ErrorCode;

// Smallest record: length, attributes, timestamp delta, offset delta, two lengths, header count.
constexpr size_t kRecordSizeMin = 7;
// What is parsed before the first skip: attributes, varlong, two varints.
constexpr size_t kRecordHeadSizeMax = 1 + base::kVarint64SizeMax + 2 * base::kVarint32SizeMax;

// Records coming out of an inflater, through a window that is refilled as it is used up.
class InflatedSource {
 public:
  InflatedSource(Inflater& inflater, std::span<std::byte> window)
      : position(window.data()), end(window.data()), inflater_(inflater), window_(window) {}

  // Makes `size` bytes lie one after the other, or all that is left.
  void ensure(size_t size) {
    if (static_cast<size_t>(end - position) < size) refill();
  }
  bool skip(size_t size) {
    while (size > static_cast<size_t>(end - position)) {
      size -= static_cast<size_t>(end - position);
      position = end;
      refill();
      if (position == end) return false;
    }
    position += size;
    return true;
  }
  bool at_end() {
    ensure(1);
    return position == end && inflater_.status() == InflateStatus::end;
  }

  const std::byte* position;
  const std::byte* end;

 private:
  void refill() {
    if (inflater_.status() != InflateStatus::more) return;
    const auto kept = static_cast<size_t>(end - position);
    std::memmove(window_.data(), position, kept);
    position = window_.data();
    end = position + kept + inflater_.read(window_.subspan(kept));
  }

  Inflater& inflater_;
  std::span<std::byte> window_;
};

// A varint of two bytes in its shortest form, which is never 0; else 0, and nothing is read.
[[gnu::always_inline]] inline uint32_t load_two_bytes(const std::byte*& from,
                                                      const std::byte* end) {
  if (end - from < 2) return 0;
  const auto high = std::to_integer<uint32_t>(from[1]);
  if (high == 0 || high >= 0x80) return 0;
  const uint32_t value = (std::to_integer<uint32_t>(from[0]) & 0x7f) | high << 7;
  from += 2;
  return value;
}

[[gnu::always_inline]] inline bool read_varint(const std::byte*& from, const std::byte* end,
                                               int32_t& value) {
  if (from != end && std::to_integer<uint8_t>(*from) < 0x80) [[likely]] {
    value = base::unzigzag32(std::to_integer<uint32_t>(*from++));
    return true;
  }
  if (const uint32_t two = load_two_bytes(from, end); two != 0) [[likely]] {
    value = base::unzigzag32(two);
    return true;
  }
  const auto varint = base::load_varint32({from, end});
  value = varint.value;
  from += varint.size;
  return varint.size != 0;
}

[[gnu::always_inline]] inline bool read_varlong(const std::byte*& from, const std::byte* end,
                                                int64_t& value) {
  if (from != end && std::to_integer<uint8_t>(*from) < 0x80) [[likely]] {
    value = base::unzigzag32(std::to_integer<uint32_t>(*from++));
    return true;
  }
  if (const uint32_t two = load_two_bytes(from, end); two != 0) [[likely]] {
    value = base::unzigzag32(two);
    return true;
  }
  const auto varint = base::load_varint64({from, end});
  value = varint.value;
  from += varint.size;
  return varint.size != 0;
}

// Walks `count` records that come out of an inflater; on_record(index, timestamp delta, has key)
// judges each. False: malformed.
class InflatedWalk {
 public:
  explicit InflatedWalk(InflatedSource& source) : source_(source) {}

  template <class OnRecord>
  bool run(int32_t count, OnRecord&& on_record) {
    for (int32_t i = 0; i < count; ++i) {
      if (!next_record(i, on_record)) return false;
    }
    return source_.at_end();
  }

 private:
  template <class OnRecord>
  [[gnu::always_inline]] bool next_record(int32_t index, OnRecord& on_record) {
    int32_t length = 0;
    source_.ensure(base::kVarint32SizeMax);
    if (!read_varint(source_.position, source_.end, length) || length <= 0) return false;
    left_ = static_cast<size_t>(length);

    int64_t timestamp_delta = 0;
    int32_t offset_delta = 0;
    int32_t key_size = 0;
    source_.ensure(std::min(left_, kRecordHeadSizeMax));
    const std::byte* from = source_.position;
    const std::byte* const end = bound(from);
    if (from == end) return false;
    ++from;  // attributes: none are defined
    if (!read_varlong(from, end, timestamp_delta) || !read_varint(from, end, offset_delta) ||
        !read_varint(from, end, key_size)) {
      return false;
    }
    advance_to(from);
    int32_t header_count = 0;
    if (offset_delta != index || !skip_nullable(key_size) || !skip_nullable_field() ||
        !read_field(header_count) || header_count < 0) {
      return false;
    }
    if (header_count > 0 && !skip_headers(header_count)) return false;
    if (left_ != 0) return false;
    on_record(index, timestamp_delta, key_size >= 0);
    return true;
  }

  bool skip_headers(int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
      int32_t key_size = 0;
      if (!read_field(key_size) || key_size < 0 || !skip_nullable(key_size)) return false;
      if (!skip_nullable_field()) return false;
    }
    return true;
  }

  // The end of the record or of what is in memory of it.
  const std::byte* bound(const std::byte* from) const {
    const auto there = static_cast<size_t>(source_.end - from);
    return from + std::min(left_, there);
  }
  void advance_to(const std::byte* from) {
    left_ -= static_cast<size_t>(from - source_.position);
    source_.position = from;
  }
  [[gnu::always_inline]] bool read_field(int32_t& value) {
    source_.ensure(std::min(left_, base::kVarint32SizeMax));
    const std::byte* from = source_.position;
    if (!read_varint(from, bound(from), value)) return false;
    advance_to(from);
    return true;
  }
  [[gnu::always_inline]] bool skip_nullable(int32_t size) {
    if (size <= 0) return size >= -1;
    if (static_cast<size_t>(size) > left_) return false;
    left_ -= static_cast<size_t>(size);
    return source_.skip(static_cast<size_t>(size));
  }
  [[gnu::always_inline]] bool skip_nullable_field() {
    int32_t size = 0;
    return read_field(size) && skip_nullable(size);
  }

  InflatedSource& source_;
  size_t left_ = 0;  // bytes of the record still to come
};

// A field of `size` bytes, or -1 for null, is passed over.
[[gnu::always_inline]] inline bool skip_bytes(const std::byte*& from, const std::byte* end,
                                              int32_t size) {
  if (size <= 0) return size >= -1;
  if (size > end - from) return false;
  from += size;
  return true;
}

[[gnu::always_inline]] inline bool skip_field(const std::byte*& from, const std::byte* end) {
  int32_t size = 0;
  return read_varint(from, end, size) && skip_bytes(from, end, size);
}

bool skip_headers(const std::byte*& from, const std::byte* end, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    int32_t key_size = 0;
    if (!read_varint(from, end, key_size) || key_size < 0 || !skip_bytes(from, end, key_size) ||
        !skip_field(from, end)) {
      return false;
    }
  }
  return true;
}

// The same for records that lie in memory as a whole. Where the next record begins is known from
// the length alone, so that a processor can look at several records at once.
template <class OnRecord>
bool walk_memory(std::span<const std::byte> records, int32_t count, OnRecord& on_record) {
  const std::byte* at = records.data();
  const std::byte* const records_end = at + records.size();
  for (int32_t index = 0; index < count; ++index) {
    int32_t length = 0;
    if (!read_varint(at, records_end, length) || length <= 0 || length > records_end - at) {
      return false;
    }
    const std::byte* from = at + 1;  // attributes: none are defined
    at += length;
    int64_t timestamp_delta = 0;
    int32_t offset_delta = 0;
    int32_t key_size = 0;
    int32_t header_count = 0;
    if (!read_varlong(from, at, timestamp_delta) || !read_varint(from, at, offset_delta) ||
        !read_varint(from, at, key_size) || offset_delta != index ||
        !skip_bytes(from, at, key_size) || !skip_field(from, at) ||
        !read_varint(from, at, header_count) || header_count < 0) {
      return false;
    }
    if (header_count > 0 && !skip_headers(from, at, header_count)) return false;
    if (from != at) return false;
    on_record(index, timestamp_delta, key_size >= 0);
  }
  return at == records_end;
}

// Collects what records say about keys and time.
class RecordChecks {
 public:
  RecordChecks(const BatchRules& rules, int64_t base_timestamp, std::vector<int32_t>& bad_records)
      : rules_(rules), base_timestamp_(base_timestamp), bad_records_(bad_records) {
    bad_records_.clear();
    // The largest limit is the way to say that there is none.
    if (rules.timestamp_before_max_ms == INT64_MAX ||
        __builtin_sub_overflow(rules.now_ms, rules.timestamp_before_max_ms, &earliest_)) {
      earliest_ = INT64_MIN;
    }
    if (rules.timestamp_after_max_ms == INT64_MAX ||
        __builtin_add_overflow(rules.now_ms, rules.timestamp_after_max_ms, &latest_)) {
      latest_ = INT64_MAX;
    }
  }

  [[gnu::always_inline]] void operator()(int32_t index, int64_t timestamp_delta, bool has_key) {
    int64_t timestamp = 0;
    const bool overflow = __builtin_add_overflow(base_timestamp_, timestamp_delta, &timestamp);
    max_timestamp = std::max(max_timestamp, timestamp);
    if (rules_.keys_required && !has_key) return add_bad(index, true);
    if (rules_.append_time) return;
    const bool in_time = timestamp >= earliest_ && timestamp <= latest_;
    if (overflow || (!in_time && timestamp != model::kNoTimestamp)) add_bad(index, false);
  }

  int64_t max_timestamp = model::kNoTimestamp;
  bool keyless = false;  // bad_records are keyless ones; else those out of time

 private:
  // Records without a key are reported alone, as in Kafka.
  [[gnu::cold, gnu::noinline]] void add_bad(int32_t index, bool is_keyless) {
    if (is_keyless && !keyless) {
      keyless = true;
      bad_records_.clear();
    }
    if (is_keyless == keyless && bad_records_.size() < BatchValidator::kBadRecordsMax) {
      bad_records_.push_back(index);
    }
  }

  const BatchRules& rules_;
  int64_t base_timestamp_;
  std::vector<int32_t>& bad_records_;
  int64_t earliest_;
  int64_t latest_;
};

bool refuse(BatchVerdict& verdict, ErrorCode error, std::string_view message) {
  verdict.error = error;
  verdict.message = message;
  return false;
}

// Exactly one whole batch of format 2, no larger than allowed.
bool check_frame(std::span<const std::byte> records, const BatchRules& rules,
                 BatchVerdict& verdict) {
  if (records.size() < batch_position::kMagic + 1) {
    return refuse(verdict, ErrorCode::invalid_record, "there is no record batch");
  }
  const auto length = base::load_be<int32_t>(records.data() + batch_position::kLength);
  const auto magic = base::load_be<int8_t>(records.data() + batch_position::kMagic);
  // The smallest entry of the oldest format.
  constexpr int32_t kLegacyLengthMin = 14;
  if (length < kLegacyLengthMin || magic < 0 || magic > kBatchMagic) {
    return refuse(verdict, ErrorCode::corrupt_message, "this is not a record batch");
  }
  if (static_cast<size_t>(length) > records.size() - kBatchLengthEnd) {
    return refuse(verdict, ErrorCode::invalid_record, "the record batch is cut short");
  }
  if (magic != kBatchMagic) {
    return refuse(verdict, ErrorCode::invalid_record, "only record format 2 is accepted");
  }
  if (static_cast<size_t>(length) < kBatchHeaderSize - kBatchLengthEnd) {
    return refuse(verdict, ErrorCode::corrupt_message, "the record batch has no whole header");
  }
  const BatchView batch(records);
  if (batch.compression_bits() == static_cast<uint8_t>(Compression::zstd) && !rules.zstd_allowed) {
    return refuse(verdict, ErrorCode::unsupported_compression_type,
                  "zstd needs version 7 of Produce");
  }
  if (batch.size() != records.size()) {
    return refuse(verdict, ErrorCode::invalid_record, "there must be exactly one record batch");
  }
  return true;
}

bool check_header(const BatchView& batch, const BatchRules& rules, BatchVerdict& verdict) {
  constexpr auto kInvalid = ErrorCode::invalid_record;
  if (batch.record_count() <= 0 || batch.last_offset_delta() < 0 ||
      batch.record_count() - 1 != batch.last_offset_delta()) {
    return refuse(verdict, kInvalid, "record count and last offset delta do not agree");
  }
  if (batch.producer_id() < model::kNoProducerId) {
    return refuse(verdict, kInvalid, "producer id below -1");
  }
  if (batch.has_producer_id() &&
      (batch.base_sequence().value() < 0 || batch.producer_epoch().value() < 0)) {
    return refuse(verdict, kInvalid, "a producer id needs a sequence and an epoch");
  }
  if (batch.is_control()) return refuse(verdict, kInvalid, "clients may not write control batches");
  if (batch.is_transactional() && !batch.has_producer_id()) {
    return refuse(verdict, kInvalid, "a transactional batch needs a producer id");
  }
  if (batch.has_delete_horizon()) {
    return refuse(verdict, kInvalid, "clients may not set a delete horizon");
  }
  if (batch.compression_bits() > kCompressionMax) {
    return refuse(verdict, kInvalid, "unknown compression type");
  }
  if (rules.append_time && batch.is_append_time()) {
    return refuse(verdict, ErrorCode::invalid_timestamp,
                  "clients may not claim LogAppendTime");
  }
  return true;
}

}  // namespace

BatchVerdict BatchValidator::validate(std::span<std::byte> records, const BatchRules& rules) {
  BatchVerdict verdict;
  if (!check_frame(records, rules, verdict)) return verdict;
  const BatchView batch(records);
  if (batch.base_offset() != model::Offset{0}) {
    verdict.with_log_start_offset = true;
    refuse(verdict, ErrorCode::invalid_record, "the base offset of a new batch must be 0");
    return verdict;
  }
  if (batch.size() > rules.batch_size_max) {
    refuse(verdict, ErrorCode::message_too_large, "the batch exceeds max.message.bytes");
    return verdict;
  }
  if (batch.computed_crc() != batch.crc()) {
    refuse(verdict, ErrorCode::corrupt_message, "the CRC does not match");
    return verdict;
  }
  verdict.with_log_start_offset = true;
  if (!check_header(batch, rules, verdict) || !check_records(batch, rules, verdict)) {
    return verdict;
  }
  if (batch.size() > rules.segment_size) {
    verdict.with_log_start_offset = false;
    refuse(verdict, ErrorCode::record_list_too_large, "the batch exceeds segment.bytes");
    return verdict;
  }

  const auto attributes =
      static_cast<int16_t>(rules.append_time
                               ? batch.attributes() | batch_attribute::kAppendTime
                               : batch.attributes() & ~batch_attribute::kAppendTime);
  verdict.with_log_start_offset = false;
  verdict.record_count = batch.record_count();
  if (rules.compression && rules.compression->compression != batch.compression() &&
      recompress(batch, attributes, rules, verdict)) {
    return verdict;
  }
  if (attributes != batch.attributes() || verdict.max_timestamp != batch.max_timestamp()) {
    std::byte* const to = records.data();
    base::store_be(to + batch_position::kAttributes, attributes);
    base::store_be(to + batch_position::kMaxTimestamp, verdict.max_timestamp);
    base::store_be(to + batch_position::kCrc, batch.computed_crc());
  }
  verdict.batch = records;
  return verdict;
}

// False: it stays as it was sent. What shrinks so far that an inflater would take it for a bomb
// could never be read again here.
bool BatchValidator::recompress(const BatchView& batch, int16_t attributes,
                                const BatchRules& rules, BatchVerdict& verdict) {
  if (recompressed_.capacity() > kKeptSizeMax) recompressed_ = {};
  const auto header = batch.bytes().first(kBatchHeaderSize);
  recompressed_.assign(header.begin(), header.end());
  deflater_.begin(*rules.compression, recompressed_, rules.batch_size_max);
  size_t records_size = 0;
  if (deflate_records(batch, records_size) == Deflater::Status::too_large) {
    refuse(verdict, ErrorCode::message_too_large,
           "the batch exceeds max.message.bytes in the topic's compression.type");
    return true;
  }
  if (recompressed_.size() > rules.segment_size) {
    refuse(verdict, ErrorCode::record_list_too_large,
           "the batch exceeds segment.bytes in the topic's compression.type");
    return true;
  }
  if (rules.compression->compression != Compression::none &&
      records_size >= Inflater::size_max(recompressed_.size() - kBatchHeaderSize)) {
    return false;
  }
  const auto codec = static_cast<int16_t>(rules.compression->compression);
  attributes = static_cast<int16_t>((attributes & ~batch_attribute::kCompressionMask) | codec);
  base::store_be(recompressed_.data() + batch_position::kAttributes, attributes);
  base::store_be(recompressed_.data() + batch_position::kMaxTimestamp, verdict.max_timestamp);
  seal_batch(recompressed_);
  verdict.batch = recompressed_;
  verdict.recompressed = true;
  return true;
}

// The records are known to be sound.
Deflater::Status BatchValidator::deflate_records(const BatchView& batch, size_t& size) {
  auto status = Deflater::Status::ok;
  if (batch.compression() == Compression::none) {
    auto left = batch.records();
    while (!left.empty() && status == Deflater::Status::ok) {
      const auto piece = left.first(std::min(left.size(), Deflater::kPieceSizeMax));
      status = deflater_.write(piece);
      size += piece.size();
      left = left.subspan(piece.size());
    }
  } else {
    inflater_.begin(batch.compression(), batch.records());
    size_t read = window_->size();
    while (read == window_->size() && status == Deflater::Status::ok) {
      read = inflater_.read(*window_);
      size += read;
      status = deflater_.write(std::span(*window_).first(read));
    }
  }
  return status == Deflater::Status::ok ? deflater_.end() : status;
}

bool BatchValidator::check_records(const BatchView& batch, const BatchRules& rules,
                                   BatchVerdict& verdict) {
  const int32_t count = batch.record_count();
  RecordChecks checks(rules, batch.base_timestamp(), bad_records_);
  bool well_formed = false;
  if (batch.compression() == Compression::none) {
    well_formed = static_cast<size_t>(count) <= batch.records().size() / kRecordSizeMin &&
                  walk_memory(batch.records(), count, checks);
  } else {
    if (window_ == nullptr) window_ = std::make_unique<std::array<std::byte, kWindowSize>>();
    inflater_.begin(batch.compression(), batch.records());
    InflatedSource source(inflater_, *window_);
    well_formed = InflatedWalk(source).run(count, checks);
    if (inflater_.status() == InflateStatus::too_large) {
      return refuse(verdict, ErrorCode::message_too_large, "the batch inflates to too much");
    }
    if (inflater_.status() == InflateStatus::corrupt) {
      return refuse(verdict, ErrorCode::invalid_record, "the compressed records are damaged");
    }
  }
  if (!well_formed) {
    return refuse(verdict, ErrorCode::invalid_record, "the records of the batch are malformed");
  }
  verdict.bad_records = bad_records_;
  if (!bad_records_.empty() && checks.keyless) {
    return refuse(verdict, ErrorCode::invalid_record,
                  "records of a compacted topic need a key");
  }
  if (!bad_records_.empty()) {
    return refuse(verdict, ErrorCode::invalid_timestamp,
                  "timestamps are out of the range the topic allows");
  }
  verdict.max_timestamp = rules.append_time ? rules.now_ms : checks.max_timestamp;
  return true;
}

}  // namespace weir::log
