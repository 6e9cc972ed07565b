// Proves: batches gather in groups of at least 64 KiB of one leader epoch, whose checksum is that
// of their bytes; offsets, timestamps and cut points are found as a scan would; what is encoded
// comes back, no damaged entry does, and a file that does not continue itself ends where it stops
// doing so. Golden bytes in tests/golden/ledger.
#include "engine/log/ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/base/crc32c.h"
#include "io/base/random.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

// A ledger and the bytes it speaks of.
struct Filled {
  explicit Filled(int64_t base_offset) : ledger(model::Offset(base_offset)) {}
  void append(int32_t count, size_t value_size, int64_t timestamp = 1000, int32_t epoch = 1,
              const BatchOptions& options = {}) {
    Buffer batch = make_batch(count, timestamp, value_size, options);
    set_base_offset(batch, ledger.next_offset());
    set_leader_epoch(batch, epoch);
    ledger.append(BatchView(batch), base::crc32c(batch));
    log::append(bytes, batch);
  }
  Ledger ledger;
  Buffer bytes;
};

void check_groups(const Filled& filled) {
  model::Offset next = filled.ledger.segment_base_offset();
  uint64_t position = 0;
  for (const Group& group : filled.ledger.groups()) {
    ASSERT_EQ(group.base_offset, next);
    ASSERT_EQ(group.position, position);
    const auto bytes = std::span(filled.bytes).subspan(group.position, group.size);
    ASSERT_EQ(group.checksum, base::crc32c(bytes));
    next = group.next_offset;
    position = group.end();
  }
  ASSERT_EQ(filled.ledger.next_offset(), next);
  ASSERT_EQ(filled.ledger.end(), filled.bytes.size());
}

TEST(Ledger, gathers_batches_in_groups) {
  Filled filled(500);
  for (int i = 0; i < 40; ++i) filled.append(3, 2'000);
  ASSERT_NO_FATAL_FAILURE(check_groups(filled));
  const auto& groups = filled.ledger.groups();
  ASSERT_GE(groups.size(), 3u);
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    EXPECT_GE(groups[i].size, kGroupSize);
    EXPECT_LT(groups[i].size, kGroupSize + 7'000);
  }
  uint32_t batches = 0;
  for (const Group& group : groups) batches += group.batch_count;
  EXPECT_EQ(batches, 40u);
}

TEST(Ledger, a_group_is_of_one_leader_epoch) {
  Filled filled(0);
  filled.append(1, 100, 1000, 1);
  filled.append(1, 100, 1000, 1);
  filled.append(1, 100, 1000, 2);
  ASSERT_EQ(filled.ledger.groups().size(), 2u);
  EXPECT_EQ(filled.ledger.groups()[1].leader_epoch, 2);
  filled.ledger.close_group();
  filled.append(1, 100, 1000, 2);
  EXPECT_EQ(filled.ledger.groups().size(), 3u);
  ASSERT_NO_FATAL_FAILURE(check_groups(filled));
}

TEST(Ledger, a_group_knows_what_is_in_it) {
  Filled filled(0);
  filled.append(3, 100, 7'000);
  filled.append(1, 100, 500, 1,
                {.producer_id = model::ProducerId(4), .producer_epoch = model::ProducerEpoch(0),
                 .base_sequence = model::Sequence(0), .transactional = true});
  const Group& group = filled.ledger.groups().front();
  EXPECT_EQ(group.max_timestamp, 7'002);
  EXPECT_EQ(group.flags, Group::kTransactional | Group::kProducers);
  EXPECT_EQ(filled.ledger.max_timestamp(), 7'002);
}

TEST(Ledger, finds_offsets_as_a_scan_does) {
  Filled filled(100);
  for (int i = 0; i < 30; ++i) filled.append(i % 5 + 1, 9'000);
  const Ledger& ledger = filled.ledger;
  for (int64_t offset = 90; offset < ledger.next_offset().value() + 5; ++offset) {
    size_t wanted = 0;
    while (wanted < ledger.groups().size() &&
           ledger.groups()[wanted].next_offset.value() <= offset) {
      ++wanted;
    }
    ASSERT_EQ(ledger.find(model::Offset(offset)), wanted) << offset;
  }
}

TEST(Ledger, finds_timestamps_that_do_not_rise) {
  Filled filled(0);
  base::RandomStream random(3);
  for (int i = 0; i < 40; ++i) filled.append(1, 70'000, static_cast<int64_t>(random.below(100)));
  for (int64_t wanted = -1; wanted < 110; wanted += 3) {
    for (size_t from = 0; from <= 40; from += 7) {
      size_t expected = from;
      while (expected < 40 && filled.ledger.groups()[expected].max_timestamp < wanted) ++expected;
      ASSERT_EQ(filled.ledger.find_timestamp(wanted, from), expected);
    }
  }
}

TEST(Ledger, memory_may_be_cut_where_a_group_begins) {
  Filled filled(0);
  EXPECT_EQ(filled.ledger.boundary_at_or_before(0), 0u);
  for (int i = 0; i < 5; ++i) filled.append(1, 70'000);
  const auto& groups = filled.ledger.groups();
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(filled.ledger.boundary_at_or_before(0), 0u);
  EXPECT_EQ(filled.ledger.boundary_at_or_before(groups[2].position - 1), groups[1].position);
  EXPECT_EQ(filled.ledger.boundary_at_or_before(groups[2].position), groups[2].position);
  EXPECT_EQ(filled.ledger.boundary_at_or_before(1 << 30), groups[4].position);
}

TEST(Ledger, a_quarantined_range_has_a_place_among_the_groups) {
  Filled filled(10);
  filled.append(2, 100);
  filled.ledger.append_quarantined(model::Offset(20), 5'000, 1);
  EXPECT_EQ(filled.ledger.next_offset().value(), 20);
  const Group group = filled.ledger.groups().back();
  EXPECT_EQ(group.base_offset.value(), 12);
  EXPECT_EQ(group.size, 5'000u);
  EXPECT_TRUE(group.flags & Group::kQuarantined);
  filled.append(1, 100);
  EXPECT_EQ(filled.ledger.groups().size(), 3u);
}

// Writes a ledger to memory the way checkpoints do.
struct LedgerFile {
  void take(Ledger& ledger, bool all, uint64_t durable_end) {
    const uint64_t position = ledger.written() == 0 ? 0 : ledger.file_end();
    size_t groups = 0;
    const auto more = ledger.encode_unwritten(all, durable_end, groups);
    if (more.empty()) return;
    bytes.resize(std::max(bytes.size(), position + more.size()));
    std::ranges::copy(more, bytes.begin() + static_cast<std::ptrdiff_t>(position));
    ledger.mark_written(groups);
  }
  Ledger load(int64_t base_offset) const {
    Ledger ledger{model::Offset(base_offset)};
    if (!Ledger::header_sound(bytes, model::Offset(base_offset))) return ledger;
    for (size_t at = kLedgerEntrySize; at + kLedgerEntrySize <= bytes.size();
         at += kLedgerEntrySize) {
      const auto group = Ledger::decode_entry(std::span(bytes).subspan(at, kLedgerEntrySize));
      if (!group || !ledger.restore(*group)) break;
    }
    return ledger;
  }
  Buffer bytes;
};

TEST(Ledger, what_is_written_step_by_step_comes_back_whole) {
  Filled filled(77);
  LedgerFile file;
  base::RandomStream random(9);
  for (int i = 0; i < 60; ++i) {
    filled.append(1, 1 + random.below(40'000));
    if (random.chance(0.3))
      file.take(filled.ledger, random.chance(0.2), random.below(filled.bytes.size()));
    // What was written never changes.
    const Ledger read = file.load(77);
    ASSERT_EQ(read.groups().size(), filled.ledger.written());
    for (size_t g = 0; g < read.groups().size(); ++g) {
      ASSERT_EQ(read.groups()[g], filled.ledger.groups()[g]);
    }
  }
  file.take(filled.ledger, true, filled.bytes.size());
  const Ledger read = file.load(77);
  EXPECT_EQ(read.groups(), filled.ledger.groups());
  EXPECT_EQ(read.written(), read.groups().size());
  EXPECT_EQ(read.max_timestamp(), filled.ledger.max_timestamp());
  ASSERT_NO_FATAL_FAILURE(check_groups(filled));
}

TEST(Ledger, an_open_group_is_written_only_on_demand_and_then_closed) {
  Filled filled(0);
  filled.append(1, 100);
  size_t groups = 9;
  EXPECT_TRUE(filled.ledger.encode_unwritten(false, filled.bytes.size(), groups).empty());
  EXPECT_EQ(groups, 0u);
  EXPECT_TRUE(filled.ledger.encode_unwritten(true, filled.bytes.size() - 1, groups).empty())
      << "not durable whole";
  EXPECT_EQ(filled.ledger.encode_unwritten(true, filled.bytes.size(), groups).size(),
            2 * kLedgerEntrySize);
  EXPECT_EQ(groups, 1u);
  filled.ledger.mark_written(groups);
  filled.append(1, 100);
  EXPECT_EQ(filled.ledger.groups().size(), 2u) << "what is in the file stays as it is";
}

TEST(Ledger, no_damaged_entry_is_taken) {
  Filled filled(5);
  filled.append(3, 100);
  std::byte entry[kLedgerEntrySize];
  Ledger::encode_entry(filled.ledger.groups().front(), entry);
  EXPECT_EQ(Ledger::decode_entry(entry), filled.ledger.groups().front());
  for (size_t at = 0; at < sizeof entry; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      entry[at] ^= static_cast<std::byte>(1 << bit);
      ASSERT_FALSE(Ledger::decode_entry(entry)) << "byte " << at;
      entry[at] ^= static_cast<std::byte>(1 << bit);
    }
  }
  const std::byte zeros[kLedgerEntrySize] = {};
  EXPECT_FALSE(Ledger::decode_entry(zeros));
  EXPECT_FALSE(Ledger::decode_entry(std::span(entry).first(kLedgerEntrySize - 1)));
}

TEST(Ledger, a_header_says_whose_it_is) {
  std::byte header[kLedgerEntrySize];
  Ledger::encode_header(model::Offset(42), header);
  EXPECT_TRUE(Ledger::header_sound(header, model::Offset(42)));
  EXPECT_FALSE(Ledger::header_sound(header, model::Offset(43)));
  EXPECT_FALSE(Ledger::header_sound(std::span(header).first(63), model::Offset(42)));
  for (size_t at = 0; at < 24; ++at) {
    if (at >= 12 && at < 16) continue;  // zeros that mean nothing
    header[at] ^= std::byte{1};
    EXPECT_FALSE(Ledger::header_sound(header, model::Offset(42))) << "byte " << at;
    header[at] ^= std::byte{1};
  }
}

TEST(Ledger, only_what_continues_is_restored) {
  Filled filled(5);
  for (int i = 0; i < 3; ++i) filled.append(1, 70'000);
  const auto& groups = filled.ledger.groups();
  Ledger other(model::Offset(5));
  EXPECT_FALSE(other.restore(groups[1])) << "a gap";
  EXPECT_TRUE(other.restore(groups[0]));
  EXPECT_FALSE(other.restore(groups[0])) << "twice";
  Group wrong = groups[1];
  wrong.position += 1;
  EXPECT_FALSE(other.restore(wrong));
  wrong = groups[1];
  wrong.next_offset = wrong.base_offset;
  EXPECT_FALSE(other.restore(wrong));
  EXPECT_TRUE(other.restore(groups[1]));
}

TEST(LedgerGolden, file_of_version_1) {
  Filled filled(1234);
  filled.append(2, 40'000, 1'700'000'000'000, 3);
  filled.append(1, 100, 1'700'000'000'500, 3,
                {.producer_id = model::ProducerId(7), .producer_epoch = model::ProducerEpoch(1),
                 .base_sequence = model::Sequence(0)});
  filled.ledger.append_quarantined(model::Offset(1240), 777, 3);
  size_t groups = 0;
  std::string text;
  size_t column = 0;
  for (const std::byte byte : filled.ledger.encode_unwritten(true, 1 << 20, groups)) {
    text += fmt::format("{:02x}", std::to_integer<int>(byte));
    if (++column % 32 == 0) text += '\n';
  }
  std::ifstream in(WEIR_SOURCE_DIR "/tests/golden/ledger/ledger-v1.txt");
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace
}  // namespace weir::log
