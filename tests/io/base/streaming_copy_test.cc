// Proves: copy_past_cache copies every byte and no other, at any alignment and size.
#include "io/base/streaming_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weir::base {
namespace {

TEST(StreamingCopy, copies_every_byte_and_no_other) {
  std::vector<std::byte> from(512);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (size_t shift = 0; shift < 17; ++shift) {
    for (size_t offset = 0; offset < 17; ++offset) {
      for (size_t size = 0; size <= 300; ++size) {
        std::vector<std::byte> to(400, std::byte{0xEE});
        copy_past_cache(to.data() + shift, std::span(from).subspan(offset, size));
        const auto whole = to.begin() + static_cast<std::ptrdiff_t>(shift);
        const auto end = whole + static_cast<std::ptrdiff_t>(size);
        const auto is_old = [](std::byte b) { return b == std::byte{0xEE}; };
        ASSERT_TRUE(std::all_of(to.begin(), whole, is_old)) << shift << " " << size;
        ASSERT_TRUE(std::all_of(end, to.end(), is_old)) << shift << " " << size;
        ASSERT_TRUE(std::equal(whole, end, from.begin() + static_cast<std::ptrdiff_t>(offset)))
            << shift << " " << offset << " " << size;
      }
    }
  }
}

}  // namespace
}  // namespace weir::base
