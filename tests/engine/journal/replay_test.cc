// Proves the decision table of RELIABILITY 2.3, L3 and L4: a record that does not check out is cut
// when nothing proves that it was acknowledged, and kept as damaged when something does; rot in one
// payload costs one entry; what earlier laps left behind is never taken for new; two sound copies
// of the superblock are enough and needed.
//
// How: journals built record by record on the simulated disk, then damaged in one place.
#include "engine/journal/replay.h"

#include <gtest/gtest.h>

#include "tests/engine/journal/journal_support.h"
#include "tests/io/sim_support.h"

namespace weir::journal {
namespace {

constexpr const char* kPath = "/data/hand.journal";
constexpr uint64_t kFileSize = kRecordsBegin + 32 * 4096;

// One record of the hand-made journal: one block, one entry for each of `partitions`.
struct Made {
  uint64_t sequence = 0;
  uint64_t position = 0;
  uint64_t durable = 0;
  uint64_t tail = 1;
  int partitions = 1;
};

class HandMade {
 public:
  explicit HandMade(uint64_t seed = 1) : world_(seed) {
    base::set_log_level(base::LogLevel::off);
    image_.resize(kFileSize);
    for (uint32_t copy = 0; copy < kSuperblockCopies; ++copy) superblock(copy, log_id(), 1);
  }
  void superblock(uint32_t copy, const LogId& id, uint64_t generation) {
    encode_superblock({id, generation, 0, 1}, copy, std::span(image_).subspan(copy * 4096, 4096));
  }
  // The next record of the chain.
  HandMade& add(Made made) {
    RecordHeader header{.log_id = log_id(),
                        .generation = 1,
                        .sequence = made.sequence,
                        .position = made.position,
                        .size = 4096,
                        .previous_checksum = previous_.checksum,
                        .previous_size = previous_.size,
                        .previous_position = previous_.position,
                        .durable_sequence = made.durable,
                        .tail_sequence = made.tail};
    std::vector<Entry> entries;
    const auto record = std::span(image_).subspan(made.position, 4096);
    std::ranges::fill(record, std::byte{0});
    for (int i = 0; i < made.partitions; ++i) {
      Entry entry;
      entry.key = {model::TopicSerial(1), model::PartitionIndex(i)};
      entry.base_offset = model::Offset(static_cast<int64_t>(made.sequence));
      entry.next_offset = entry.base_offset + 1;
      entry.begin = entry.inline_begin = made.sequence * 100;
      entry.end = entry.begin + 100;
      entry.payload_size = 100;
      entry.payload_position = 2048 + static_cast<uint32_t>(i) * 100;
      const auto payload = record.subspan(entry.payload_position, 100);
      std::ranges::fill(payload, static_cast<std::byte>(made.sequence + static_cast<uint64_t>(i)));
      entry.payload_checksum = base::crc32c(payload);
      entries.push_back(entry);
    }
    encode_record(header, entries, echo_, record);
    previous_ = header;
    echo_ = entries;
    return *this;
  }
  // Sequences first..last in a row from kRecordsBegin, each knowing that the one two before is
  // durable.
  HandMade& chain(uint64_t first, uint64_t last, int partitions = 1) {
    for (uint64_t s = first; s <= last; ++s) {
      add({.sequence = s, .position = kRecordsBegin + (s - first) * 4096,
           .durable = s > 2 ? s - 2 : 0, .tail = first, .partitions = partitions});
    }
    return *this;
  }
  void damage(uint64_t position) { image_[position] ^= std::byte{0x40}; }
  void wipe(uint64_t position) {
    std::fill_n(image_.begin() + static_cast<std::ptrdiff_t>(position), 4096, std::byte{0});
  }
  std::vector<std::byte>& image() { return image_; }

  base::Result<Replay> replay(uint64_t generation = 1) {
    write(io::Durability::on_completion);
    return replay_written(generation);
  }
  void write(io::Durability durability) {
    const auto file = io::sim::open_file(world_, kPath);
    const std::string text(reinterpret_cast<const char*>(image_.data()), image_.size());
    EXPECT_EQ(io::sim::write_file(world_, file, text, 0, durability),
              static_cast<int32_t>(text.size()));
    io::sim::wait(world_, [&](io::Op& op) { world_.core(0).disk.close(op, file); });
  }
  base::Result<Replay> replay_written(uint64_t generation = 1) {
    return replay_journal(world_.core(0).loop, world_.core(0).disk, kPath, generation);
  }
  io::sim::SimWorld& world() { return world_; }

 private:
  io::sim::SimWorld world_;
  std::vector<std::byte> image_;
  RecordHeader previous_;
  std::vector<Entry> echo_;
};

uint64_t place(uint64_t index) { return kRecordsBegin + index * 4096; }

std::vector<uint64_t> sequences(const Replay& replay) {
  std::vector<uint64_t> all;
  for (const auto& record : replay.records) all.push_back(record.sequence);
  return all;
}
using Sequences = std::vector<uint64_t>;

TEST(Replay, an_empty_journal_says_nothing) {
  const auto replay = HandMade().replay();
  ASSERT_TRUE(replay);
  EXPECT_TRUE(replay->records.empty());
  EXPECT_EQ(replay->acknowledged, 0u);
}

TEST(Replay, whole_chain) {
  HandMade journal;
  const auto replay = journal.chain(1, 6).replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(replay->acknowledged, 4u);
  EXPECT_TRUE(replay->records[3].acknowledged);
  EXPECT_FALSE(replay->records[4].acknowledged);
  EXPECT_EQ(replay->dropped_records, 0u);
}

TEST(Replay, a_torn_last_record_is_cut) {
  for (const uint64_t where : {uint64_t{0}, uint64_t{50}, uint64_t{200}, uint64_t{2048}}) {
    HandMade journal;
    journal.chain(1, 6).damage(place(5) + where);
    const auto replay = journal.replay();
    ASSERT_TRUE(replay);
    EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5})) << "byte " << where;
    EXPECT_EQ(replay->damaged_records + replay->damaged_entries, 0u);
  }
}

TEST(Replay, what_lies_behind_a_torn_record_goes_too) {
  HandMade journal;
  journal.chain(1, 6).damage(place(4) + 60);
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->acknowledged, 4u);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4}));
  EXPECT_EQ(replay->dropped_records, 1u);
  EXPECT_EQ(replay->damaged_records, 0u);
}

TEST(Replay, a_torn_payload_in_front_of_the_last_record_cuts_as_well) {
  HandMade journal;
  journal.chain(1, 6).damage(place(4) + 2048);
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4}));
  EXPECT_EQ(replay->damaged_entries, 0u);
}

TEST(Replay, the_next_record_knows_what_a_rotten_one_held) {
  for (const uint64_t where : {uint64_t{0}, uint64_t{60}, uint64_t{130}}) {
    HandMade journal;
    journal.chain(1, 6).damage(place(2) + where);
    const auto replay = journal.replay();
    ASSERT_TRUE(replay);
    EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5, 6})) << "byte " << where;
    const ReplayedRecord& record = replay->records[2];
    EXPECT_FALSE(record.damaged);
    EXPECT_TRUE(record.acknowledged);
    ASSERT_EQ(record.entries.size(), 1u);
    EXPECT_EQ(record.entries[0].entry.base_offset, model::Offset(3));
    EXPECT_TRUE(record.entries[0].sound) << "its payload is whole";
    ASSERT_EQ(record.entries[0].payload.size(), 100u);
    EXPECT_EQ(record.entries[0].payload[0], std::byte{3});
    EXPECT_EQ(replay->damaged_records, 1u);
    EXPECT_EQ(replay->damaged_entries, 0u);
  }
}

TEST(Replay, of_two_rotten_neighbours_the_first_is_unknown) {
  HandMade journal;
  journal.chain(1, 7).damage(place(2));
  journal.damage(place(3));
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(replay->records[2].damaged);
  EXPECT_TRUE(replay->records[2].entries.empty());
  EXPECT_FALSE(replay->records[3].damaged);
  EXPECT_EQ(replay->records[3].entries.size(), 1u);
  EXPECT_EQ(replay->damaged_records, 2u);
}

TEST(Replay, a_lost_write_of_an_acknowledged_record_is_damage) {
  HandMade journal;
  journal.chain(1, 6).wipe(place(1));
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(replay->damaged_records, 1u);
  ASSERT_EQ(replay->records[1].entries.size(), 1u);
  EXPECT_FALSE(replay->records[1].entries[0].sound);
}

TEST(Replay, a_lost_write_at_the_end_is_a_cut) {
  HandMade journal;
  journal.chain(1, 6).wipe(place(5));
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4, 5}));
}

TEST(Replay, rot_in_one_payload_costs_one_entry) {
  HandMade journal;
  journal.chain(1, 6, 3).damage(place(2) + 2048 + 150);  // the second entry's
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->damaged_records, 0u);
  EXPECT_EQ(replay->damaged_entries, 1u);
  const auto& entries = replay->records[2].entries;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_TRUE(entries[0].sound);
  EXPECT_FALSE(entries[1].sound);
  EXPECT_TRUE(entries[2].sound);
}

TEST(Replay, a_record_of_another_chain_behind_the_end_is_cut) {
  // As if the previous start had written a record that this one did not see.
  HandMade journal;
  journal.chain(1, 4);
  HandMade other;
  other.chain(1, 3).add({.sequence = 4, .position = place(3), .durable = 1, .partitions = 2});
  other.add({.sequence = 5, .position = place(4), .durable = 2});
  std::copy_n(other.image().begin() + static_cast<std::ptrdiff_t>(place(4)), 4096,
              journal.image().begin() + static_cast<std::ptrdiff_t>(place(4)));
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{1, 2, 3, 4}));
}

TEST(Replay, records_of_earlier_laps_are_ignored) {
  // Sequences 1..5 lie behind 6..8, which overwrote nothing of 4 and 5 and need nothing before 6.
  HandMade journal;
  journal.chain(1, 5);
  journal.add({.sequence = 6, .position = place(0), .durable = 5, .tail = 6})
      .add({.sequence = 7, .position = place(1), .durable = 6, .tail = 6})
      .add({.sequence = 8, .position = place(2), .durable = 6, .tail = 6});
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{6, 7, 8}));
  EXPECT_EQ(replay->acknowledged, 6u);
}

TEST(Replay, a_torn_record_of_the_new_lap_falls_back_to_the_end_of_the_old) {
  HandMade journal;
  journal.chain(1, 5);
  journal.add({.sequence = 6, .position = place(5), .durable = 5, .tail = 3});
  journal.add({.sequence = 7, .position = place(0), .durable = 5, .tail = 3});
  journal.damage(place(0) + 2050);
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(sequences(*replay), (Sequences{3, 4, 5, 6}));
}

TEST(Replay, a_misdirected_record_is_not_taken) {
  HandMade journal;
  journal.chain(1, 4);
  std::copy_n(journal.image().begin() + static_cast<std::ptrdiff_t>(place(1)), 4096,
              journal.image().begin() + static_cast<std::ptrdiff_t>(place(9)));
  journal.wipe(place(1));
  const auto replay = journal.replay();
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->damaged_records, 1u);
  ASSERT_EQ(replay->records[1].entries.size(), 1u);
  EXPECT_FALSE(replay->records[1].entries[0].sound) << "its copy elsewhere does not count";
}

TEST(Replay, two_sound_superblocks_are_enough_and_needed) {
  for (uint32_t damaged = 0; damaged <= kSuperblockCopies; ++damaged) {
    HandMade journal;
    journal.chain(1, 3);
    for (uint32_t copy = 0; copy < damaged; ++copy) journal.damage(copy * 4096 + 20);
    const auto replay = journal.replay();
    EXPECT_EQ(replay.has_value(), damaged <= 2) << damaged << " copies damaged";
  }
}

TEST(Replay, superblocks_must_agree) {
  HandMade journal;
  journal.chain(1, 3);
  journal.superblock(0, log_id(0x11), 1);
  journal.superblock(1, log_id(0x22), 1);
  ASSERT_TRUE(journal.replay()) << "two of the old ones still agree";
  journal.superblock(2, log_id(0x33), 1);
  EXPECT_FALSE(journal.replay());
}

TEST(Replay, refuses_another_generation_and_what_is_no_journal) {
  HandMade journal;
  journal.chain(1, 3);
  EXPECT_FALSE(journal.replay(2));
  EXPECT_FALSE(replay_journal(journal.world().core(0).loop, journal.world().core(0).disk,
                              "/data/missing", 1));
  journal.image().resize(100);
  HandMade short_file;
  short_file.image().resize(100);
  EXPECT_FALSE(short_file.replay());
}

// L10: what is read may be in the device's cache only; decisions must not rest on it.
TEST(Replay, what_was_found_once_survives_a_power_cut) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    HandMade journal(seed);
    journal.chain(1, 6).write(io::Durability::none);
    ASSERT_EQ(io::sim::sync_directory(journal.world(), "/data"), 0);
    const auto first = journal.replay_written();
    ASSERT_TRUE(first);
    ASSERT_EQ(sequences(*first), (Sequences{1, 2, 3, 4, 5, 6}));
    journal.world().crash(io::sim::CrashKind::power_cut);
    journal.world().restart(1);
    const auto second = journal.replay_written();
    ASSERT_TRUE(second) << "seed " << seed;
    EXPECT_EQ(sequences(*second), sequences(*first)) << "seed " << seed;
  }
}

TEST(Replay, goes_on_over_unreadable_blocks) {
  HandMade journal;
  journal.chain(1, 6);
  ASSERT_TRUE(journal.replay());
  // The medium refuses some reads; what cannot be read counts as damaged or cut, never as an error,
  // as long as the superblocks can be read.
  int answered = 0;
  for (int i = 0; i < 20; ++i) {
    journal.world().faults().read_error = 0.2;
    const auto replay = replay_journal(journal.world().core(0).loop, journal.world().core(0).disk,
                                       kPath, 1);
    if (!replay) continue;
    ++answered;
    for (const auto& record : replay->records) {
      EXPECT_TRUE(record.damaged || record.entries.size() == 1);
    }
  }
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace weir::journal
