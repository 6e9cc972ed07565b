#include "engine/log/compaction.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/log/transaction_marker.h"
#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/varint.h"

namespace weir::log {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kInflateStep = size_t{64} << 10;

// What a producer that names no level gets.
int32_t default_level(Compression compression) {
  switch (compression) {
    case Compression::gzip: return -1;
    case Compression::lz4: return 9;
    case Compression::zstd: return 3;
    case Compression::none:
    case Compression::snappy: return 0;
  }
  UNREACHABLE("compression {}", static_cast<int>(compression));
}

// Timestamps are whatever a producer wrote: sums wrap as they do for readers.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

void put_record(std::vector<std::byte>& out, std::byte attributes, int64_t delta, Bytes rest) {
  std::byte encoded[base::kVarint64SizeMax];
  const size_t delta_size = base::store_varint64(encoded, delta);
  std::byte length[base::kVarint32SizeMax];
  const size_t length_size = base::store_varint32(
      length, static_cast<int32_t>(1 + delta_size + rest.size()));
  out.insert(out.end(), length, length + length_size);
  out.push_back(attributes);
  out.insert(out.end(), encoded, encoded + delta_size);
  out.insert(out.end(), rest.begin(), rest.end());
}

}  // namespace

void Compaction::begin(CompactionInput input, const base::SipKey& secret, uint64_t keys_wanted,
                       size_t memory_max) {
  input_ = std::move(input);
  std::ranges::sort(input_.aborted, {}, [](const AbortedRange& range) {
    return std::tuple(range.producer_id, range.marker_offset);
  });
  newest_.begin(secret, keys_wanted, memory_max);
  mapped_end_ = input_.map_from;
  in_transaction_.clear();
  void_markers_.clear();
  counts_ = {};
}

void Compaction::end() {
  input_ = {};
  newest_.clear();
  in_transaction_.clear();
  for (auto* bytes : {&raw_, &rebuilt_, &out_}) std::vector<std::byte>().swap(*bytes);
  std::vector<Kept>().swap(kept_);
}

// The records of the batch in records_, inflated where needed. False: they cannot be read.
bool Compaction::load_records(const BatchView& batch) {
  if (batch.compression_bits() > kCompressionMax) return false;
  records_ = batch.records();
  if (batch.compression() == Compression::none) return true;
  const size_t limit = Inflater::size_max(records_.size());
  inflater_.begin(batch.compression(), records_);
  size_t size = 0;
  while (inflater_.status() == InflateStatus::more && size < limit) {
    raw_.resize(std::max(raw_.size(), size + kInflateStep));
    size += inflater_.read(std::span(raw_).subspan(size));
  }
  records_ = std::span(raw_).first(size);
  return inflater_.status() == InflateStatus::end;
}

bool Compaction::is_aborted(const BatchView& batch) const {
  if (!batch.is_transactional()) return false;
  const auto found = std::ranges::upper_bound(
      input_.aborted, std::tuple(batch.producer_id(), batch.base_offset()), {},
      [](const AbortedRange& range) { return std::tuple(range.producer_id, range.marker_offset); });
  return found != input_.aborted.end() && found->producer_id == batch.producer_id() &&
         found->first_offset <= batch.base_offset();
}

// Whether readers are still told of the transaction that this marker ends, or will be after a
// start: they look for the marker.
bool Compaction::is_indexed(const BatchView& marker) const {
  const std::tuple key(marker.producer_id(), marker.base_offset());
  return std::ranges::binary_search(input_.aborted, key, {}, [](const AbortedRange& range) {
    return std::tuple(range.producer_id, range.marker_offset);
  });
}

bool Compaction::holds_producer(const BatchView& batch) const {
  if (!batch.has_producer_id()) return false;
  const auto found = input_.producers.find(batch.producer_id());
  if (found == input_.producers.end()) return false;
  const ActiveProducer& producer = found->second;
  if (producer.last_data_offset != model::kNoOffset) {
    return !batch.is_control() && batch.last_offset() == producer.last_data_offset;
  }
  return batch.is_control() && batch.producer_epoch() == producer.epoch;
}

bool Compaction::map(Bytes bytes) {
  const BatchView batch(bytes);
  if (batch.next_offset() <= input_.map_from) return true;
  Record record;
  if (!batch.is_control() && !is_aborted(batch) && load_records(batch)) {
    while (!records_.empty() && read_record(records_, record)) {
      const model::Offset offset = batch.base_offset() + record.offset_delta;
      if (!record.key || offset < input_.map_from) continue;
      if (!newest_.put(*record.key, offset)) return false;
      mapped_end_ = offset + 1;
    }
  }
  mapped_end_ = batch.next_offset();
  return true;
}

Bytes Compaction::filter(Bytes bytes, bool ends_range) {
  const BatchView batch(bytes);
  counts_.bytes_read += bytes.size();
  counts_.records_read += static_cast<uint64_t>(batch.record_count());
  const Bytes kept =
      batch.is_control() ? filter_control(batch, ends_range) : filter_data(batch, ends_range);
  const int32_t left = kept.empty() ? 0 : BatchView(kept).record_count();
  counts_.records_removed += static_cast<uint64_t>(batch.record_count() - left);
  counts_.bytes_written += kept.size();
  return kept;
}

bool Compaction::horizon_passed(const BatchView& batch) const {
  return batch.has_delete_horizon() && batch.base_timestamp() <= input_.rules.now_ms;
}

int64_t Compaction::new_horizon() const {
  const int64_t left = std::numeric_limits<int64_t>::max() - input_.rules.now_ms;
  return input_.rules.now_ms + std::min(input_.rules.delete_retention_ms, left);
}

Bytes Compaction::filter_control(const BatchView& batch, bool ends_range) {
  const bool has_data = in_transaction_.erase(batch.producer_id()) > 0;
  if (batch.next_offset() > mapped_end_) return batch.bytes();
  if (batch.record_count() == 0) return without_records(batch, ends_range);
  const auto marker = read_marker(batch);
  if (!marker || has_data || holds_producer(batch)) return batch.bytes();
  if (!marker->commit) void_markers_.push_back(batch.base_offset());
  if (horizon_passed(batch) && !is_indexed(batch)) return without_records(batch, ends_range);
  if (batch.has_delete_horizon() || !load_records(batch)) return batch.bytes();
  kept_.clear();
  Record record;
  const Bytes whole = records_;
  if (!read_record(records_, record)) return batch.bytes();
  const Bytes bytes = whole.first(whole.size() - records_.size());
  const Bytes body = bytes.subspan(base::load_varint32(bytes).size);
  kept_.push_back({bytes, body.subspan(1 + base::load_varint64(body.subspan(1)).size), body[0],
                   plus(batch.base_timestamp(), record.timestamp_delta)});
  return rewrite(batch, true);
}

// Below mapped_end.
bool Compaction::keeps(const Record& record, model::Offset offset, bool horizon_passed) const {
  if (!record.key) return false;
  const bool too_soon = model::planted(model::Bug::tombstone_before_horizon);
  if (!record.value && (horizon_passed || too_soon)) return false;
  const bool off_by_one = model::planted(model::Bug::compaction_drops_newest);
  if (off_by_one && offset + 1 == mapped_end_) return false;
  return offset >= newest_.find(*record.key);
}

Bytes Compaction::filter_data(const BatchView& batch, bool ends_range) {
  if (batch.is_transactional()) in_transaction_.insert(batch.producer_id());
  if (batch.base_offset() >= mapped_end_) return batch.bytes();
  const bool stays = ends_range || holds_producer(batch);
  if (batch.record_count() == 0 || is_aborted(batch)) return without_records(batch, stays);
  if (!load_records(batch)) return batch.bytes();
  const bool passed = horizon_passed(batch);
  kept_.clear();
  bool tombstones = false;
  int32_t count = 0;
  Record record;
  for (; !records_.empty(); ++count) {
    const Bytes whole = records_;
    // Validated when it came in: what cannot be read is not ours to throw away.
    if (!read_record(records_, record)) return batch.bytes();
    const model::Offset offset = batch.base_offset() + record.offset_delta;
    const bool mapped = offset < mapped_end_;
    if (mapped && !keeps(record, offset, passed)) continue;
    tombstones = tombstones || (mapped && !record.value);
    const Bytes bytes = whole.first(whole.size() - records_.size());
    const Bytes body = bytes.subspan(base::load_varint32(bytes).size);
    kept_.push_back({bytes, body.subspan(1 + base::load_varint64(body.subspan(1)).size), body[0],
                     plus(batch.base_timestamp(), record.timestamp_delta)});
  }
  if (kept_.empty()) return without_records(batch, stays);
  const bool sets_horizon = tombstones && !batch.has_delete_horizon();
  const bool all = kept_.size() == static_cast<size_t>(count);
  if (all && !sets_horizon) return batch.bytes();
  return rewrite(batch, sets_horizon);
}

// The header alone: what it says of its producer and of offsets.
Bytes Compaction::without_records(const BatchView& batch, bool stays) {
  if (!stays) return {};
  if (batch.record_count() == 0) return batch.bytes();
  out_.assign(batch.bytes().begin(), batch.bytes().begin() + kBatchHeaderSize);
  constexpr int16_t kGone = batch_attribute::kCompressionMask | batch_attribute::kDeleteHorizon;
  std::byte* const to = out_.data();
  base::store_be(to + batch_position::kAttributes,
                 static_cast<int16_t>(batch.attributes() & ~kGone));
  base::store_be(to + batch_position::kBaseTimestamp, batch.max_timestamp());
  base::store_be(to + batch_position::kRecordCount, int32_t{0});
  seal_batch(out_);
  return out_;
}

// The batch with the records of kept_.
Bytes Compaction::rewrite(const BatchView& batch, bool new_horizon) {
  const int64_t base = new_horizon ? this->new_horizon() : batch.base_timestamp();
  int64_t newest = model::kNoTimestamp;
  rebuilt_.clear();
  for (const Kept& kept : kept_) {
    newest = std::max(newest, kept.timestamp);
    if (new_horizon) {
      put_record(rebuilt_, kept.attributes, minus(kept.timestamp, base), kept.rest);
    } else {
      rebuilt_.insert(rebuilt_.end(), kept.bytes.begin(), kept.bytes.end());
    }
  }
  out_.assign(batch.bytes().begin(), batch.bytes().begin() + kBatchHeaderSize);
  deflate(batch, rebuilt_);
  std::byte* const to = out_.data();
  if (new_horizon) {
    base::store_be(to + batch_position::kAttributes,
                   static_cast<int16_t>(batch.attributes() | batch_attribute::kDeleteHorizon));
    base::store_be(to + batch_position::kBaseTimestamp, base);
  }
  if (!batch.is_append_time()) base::store_be(to + batch_position::kMaxTimestamp, newest);
  base::store_be(to + batch_position::kRecordCount, static_cast<int32_t>(kept_.size()));
  seal_batch(out_);
  return out_;
}

void Compaction::deflate(const BatchView& batch, Bytes records) {
  const Compression compression = batch.compression();
  // As much as there is: the records were fewer or as many before.
  deflater_.begin({compression, default_level(compression)}, out_, SIZE_MAX);
  while (!records.empty()) {
    const Bytes piece = records.first(std::min(records.size(), Deflater::kPieceSizeMax));
    const auto status = deflater_.write(piece);
    ASSERT(status == Deflater::Status::ok);
    records = records.subspan(piece.size());
  }
  const auto status = deflater_.end();
  ASSERT(status == Deflater::Status::ok);
}

}  // namespace weir::log
