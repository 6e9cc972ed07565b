// Fuzz: a start on files that anything may have happened to. Recovery ends, never crashes, and when
// it succeeds a second one changes nothing, the partitions can be read up to an error, and appends
// go on.
//
// Input: eight bytes a change: what, which file, where (3 bytes), value (3 bytes). They are made to
// the files of a small node with sealed and active segments, extents, ledgers and a snapshot.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/engine/partition/partition_world.h"

namespace {

using namespace weir;
using partition::PartitionWorld;

void check(bool condition) {
  if (!condition) std::abort();
}

partition::WorldOptions options() {
  partition::WorldOptions all;
  all.partition_count = 2;
  all.journal.record_size_max = 64 << 10;
  all.journal.size_initial = all.journal.size_max = 256 << 10;
  all.journal.extent_threshold = 16 << 10;
  all.settings.segment_bytes = 64 << 10;
  all.partition.flush_bytes = 16 << 10;
  return all;
}

struct Image {
  PartitionWorld::Files files;
  uint64_t generation = 0;
};

Image build_image() {
  PartitionWorld world(1, options());
  check(world.start());
  for (int32_t i = 0; i < 30; ++i) {
    const size_t sizes[] = {50, 3'000, 9'000, 30'000};
    const auto batch = log::make_batch(2, 1000 + i, sizes[i % 4],
                                       {.producer_id = model::ProducerId(i % 3),
                                        .producer_epoch = model::ProducerEpoch(0),
                                        .base_sequence = model::Sequence(i / 6 * 2)});
    (void)world.append(batch, i % 2);
  }
  world.sim().run_for(1'000'000'000);
  check(world.append(log::make_batch(1, 5'000, 700), 0) >= 0);
  world.crash();
  return {world.files(), world.generation()};
}

void change(Image& image, std::span<const uint8_t> step) {
  auto file = image.files.begin();
  std::advance(file, step[1] % image.files.size());
  std::vector<std::byte>& bytes = file->second;
  if (bytes.empty()) return;
  const size_t place = size_t{step[2]} | size_t{step[3]} << 8 | size_t{step[4]} << 16;
  const size_t where = place % bytes.size();
  const size_t value = size_t{step[5]} | size_t{step[6]} << 8 | size_t{step[7]} << 16;
  const size_t block = where / io::kBlockSize * io::kBlockSize;
  const size_t block_size = std::min(bytes.size() - block, io::kBlockSize);
  const auto at = [&](size_t position) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(position);
  };
  switch (step[0] % 6) {
    case 0: bytes[where] ^= static_cast<std::byte>(value | 1); break;
    case 1: std::fill_n(at(block), block_size, std::byte{0}); break;
    case 2: bytes.resize(where); break;
    case 3: {  // a block that was written to another place too
      const size_t from = value % bytes.size() / io::kBlockSize * io::kBlockSize;
      const size_t size = std::min(block_size, bytes.size() - from);
      const std::vector<std::byte> copy(at(from), at(from + size));
      std::ranges::copy(copy, at(block));
      break;
    }
    case 4: bytes.resize(bytes.size() + value % 10'000, static_cast<std::byte>(value)); break;
    default:
      if (image.files.size() > 2) image.files.erase(file);
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Image original = build_image();
  Image image = original;
  for (size_t at = 0; at + 8 <= std::min<size_t>(size, 8 * 8); at += 8) {
    change(image, std::span(data + at, 8));
  }
  PartitionWorld world(2, options());
  world.adopt(image.generation, image.files);
  std::map<model::PartitionKey, partition::Recovered> once;
  if (!world.recover(once)) return 0;  // refused, with a reason
  const auto files = world.files();
  std::map<model::PartitionKey, partition::Recovered> twice;
  check(world.recover(twice));
  check(world.files() == files);
  check(once.size() == twice.size());
  for (const auto& [key, recovered] : once) {
    check(twice.at(key).log_end == recovered.log_end);
    check(twice.at(key).tail == recovered.tail);
  }
  check(world.start());
  for (int32_t i = 0; i < 2; ++i) {
    model::ErrorCode error{};
    (void)world.read_all(i, error);
    const int64_t end = world.partition(i).high_watermark().value();
    check(world.append(log::make_batch(1, 9'000, 100), i) == end);
  }
  return 0;
}
