// catalog.log: its bytes are those of the golden file, every bit of it is guarded, a torn end is
// cut, a hole before valid records is refused.
#include "engine/catalog/catalog_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace weir::catalog {
namespace {

using testing::HasSubstr;

std::vector<Change> sample_changes() {
  Change create;
  create.kind = ChangeKind::create_topic;
  create.serial = model::TopicSerial(7);
  for (size_t i = 0; i < create.id.bytes.size(); ++i)
    create.id.bytes[i] = static_cast<std::byte>(i + 1);
  create.name = "clicks";
  create.partition_count = 12;
  create.overrides = {{"cleanup.policy", "compact,delete"}, {"retention.ms", "86400000"}};
  Change internal = create;
  internal.serial = model::TopicSerial(8);
  internal.id.bytes[0] = std::byte{0xff};
  internal.name = "__consumer_offsets";
  internal.internal = true;
  internal.overrides = {};
  Change grow;
  grow.kind = ChangeKind::set_partition_count;
  grow.serial = create.serial;
  grow.partition_count = 24;
  Change config;
  config.kind = ChangeKind::set_topic_config;
  config.serial = create.serial;
  config.overrides = {{"retention.ms", "1"}};
  Change broker;
  broker.kind = ChangeKind::set_broker_config;
  broker.scope = BrokerScope::this_broker;
  broker.overrides = {{"log.retention.ms", "5"}};
  Change remove;
  remove.kind = ChangeKind::delete_topic;
  remove.serial = internal.serial;
  Change reserve;
  reserve.kind = ChangeKind::reserve;
  reserve.next_serial = model::TopicSerial(9);
  reserve.next_producer_id = model::ProducerId(3000);
  return {create, internal, grow, config, broker, remove, reserve};
}

// The header, each change in a record of its own, a frontier.
std::vector<std::byte> sample_log(std::vector<uint64_t>* positions = nullptr) {
  LogId id{};
  id.fill(std::byte{0x5a});
  std::vector<std::byte> file;
  LogTail tail = encode_log_header(id, 100, file);
  for (const Change& change : sample_changes()) {
    if (positions != nullptr) positions->push_back(file.size());
    tail = encode_record(tail, {&change, 1}, file);
  }
  if (positions != nullptr) positions->push_back(file.size());
  encode_record(tail, {}, file);
  return file;
}

TEST(CatalogLogTest, BytesAreThoseOfTheGoldenFile) {
  const std::string path = WEIR_SOURCE_DIR "/tests/golden/catalog-v1.log";
  const auto bytes = sample_log();
  if (std::getenv("WEIR_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(golden, base::as_text(bytes));
}

TEST(CatalogLogTest, ReadingGivesWhatWasWritten) {
  const auto content = read_log(sample_log(), "x");
  ASSERT_TRUE(content) << content.error().detail;
  ASSERT_EQ(content->image.changes.size(), 2u);
  EXPECT_EQ(content->image.changes[0].overrides, (Overrides{{"log.retention.ms", "5"}}));
  EXPECT_EQ(content->image.changes[1].name, "clicks");
  EXPECT_EQ(content->image.changes[1].partition_count, 24);
  EXPECT_EQ(content->image.changes[1].overrides, (Overrides{{"retention.ms", "1"}}));
  EXPECT_EQ(content->image.next_serial.value(), 9u);
  EXPECT_EQ(content->image.next_producer_id.value(), 3000);
  EXPECT_EQ(content->tail.sequence, 107u);
  EXPECT_EQ(content->tail.position,
            sample_log().size() - kCatalogRecordHeaderSize);  // the frontier's
}

TEST(CatalogLogTest, EveryChangeSurvivesEncoding) {
  std::vector<std::byte> bytes;
  for (const Change& change : sample_changes()) encode_change(change, bytes);
  const auto changes = decode_changes(bytes);
  ASSERT_TRUE(changes);
  EXPECT_EQ(*changes, sample_changes());
  for (size_t size = 1; size < 60; ++size) {  // cut inside the first change: an error, not a crash
    EXPECT_FALSE(decode_changes(std::span(bytes).first(size)));
  }
}

TEST(CatalogLogTest, RewrittenLogSaysTheSame) {
  const auto content = read_log(sample_log(), "x");
  const auto again = read_log(encode_log(LogId{}, content->tail.sequence, content->image), "x");
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(again->image, content->image);
}

TEST(CatalogLogTest, TornEndIsCutAtTheLastWholeRecord) {
  std::vector<uint64_t> positions;
  const auto file = sample_log(&positions);
  for (size_t size = kCatalogHeaderSize; size < file.size(); ++size) {
    const auto content = read_log(std::span(file).first(size), "x");
    ASSERT_TRUE(content) << size << ": " << content.error().detail;
    const auto end = std::ranges::upper_bound(positions, size) - 1;
    EXPECT_EQ(content->valid_size, *end) << size;
  }
}

TEST(CatalogLogTest, FlippedBitsAreNeverTakenForData) {
  const auto good = sample_log();
  const auto image = read_log(good, "x")->image;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto content = read_log(bad, "x");
    // Padding and the frontier carry nothing; all else is refused, because whole records follow.
    if (content) {
      EXPECT_EQ(content->image, image) << "bit " << bit;
    }
  }
}

TEST(CatalogLogTest, HoleBeforeWholeRecordsIsRefusedWithInstructions) {
  std::vector<uint64_t> positions;
  auto file = sample_log(&positions);
  std::fill_n(file.begin() + static_cast<ptrdiff_t>(positions[2]), 16, std::byte{0});
  const auto content = read_log(file, "/data/catalog.log");
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().detail, HasSubstr("/data/catalog.log is damaged"));
  EXPECT_THAT(content.error().detail, HasSubstr("Restore"));
}

TEST(CatalogLogTest, LastAcknowledgedRecordIsGuardedByTheFrontier) {
  std::vector<uint64_t> positions;
  auto file = sample_log(&positions);
  file[positions[6] + kCatalogRecordHeaderSize] ^= std::byte{1};
  EXPECT_FALSE(read_log(file, "x"));
}

TEST(CatalogLogTest, RecordsOfAnotherLogOrPlaceAreNotRecords) {
  std::vector<uint64_t> positions;
  const auto file = sample_log(&positions);
  auto moved = file;
  moved.insert(moved.end(), file.begin() + static_cast<ptrdiff_t>(positions[0]), file.end());
  const auto content = read_log(moved, "x");
  ASSERT_TRUE(content);
  EXPECT_EQ(content->valid_size, file.size());
}

TEST(CatalogLogTest, OtherFilesAndNewerVersionsAreRefused) {
  EXPECT_FALSE(read_log({}, "x"));
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(read_log(zeros, "x"));
  std::vector<std::byte> newer;
  encode_log_header(LogId{}, 1, newer);
  newer[8] = std::byte{2};
  const auto crc = base::crc32c(std::span(newer).first(60));
  base::store_le(newer.data() + 60, crc);
  const auto content = read_log(newer, "x");
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().detail, HasSubstr("newer"));
}

}  // namespace
}  // namespace weir::catalog
