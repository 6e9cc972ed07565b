// All messages at all versions: defaults and random contents survive encoding and decoding to the
// byte with nothing left over (CASES C06), every proper prefix is refused, and hostile bytes are
// refused within the promised memory (RELIABILITY rule 10, F38).
#include "engine/wire/codec.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/wire/all_messages.h"
#include "engine/wire/limits.h"
#include "tests/engine/wire/wire_test_support.h"

namespace weir::wire {
namespace {

using testing::Buffer;
using testing::encoded;
using testing::for_each_version;
using testing::kArenaSizeMax;
using testing::random_message;

template <class M>
void expect_decodes_to_itself(const Buffer& bytes, int16_t version) {
  base::Arena arena(kArenaSizeMax);
  M again;
  const auto status = decode(again, bytes, version, arena);
  ASSERT_TRUE(status) << to_string(status.error());
  ASSERT_EQ(encoded(again, version), bytes);
}

struct DefaultsRoundTrip {
  template <class M>
  void operator()(int16_t version) {
    const Buffer bytes = encoded(M{}, version);
    expect_decodes_to_itself<M>(bytes, version);
    base::Arena arena(kArenaSizeMax);
    M decoded;
    ASSERT_TRUE(decode(decoded, bytes, version, arena));
    DefaultTest test;
    M::describe(test, decoded);
    EXPECT_TRUE(test.is_default);
  }
};

TEST(Codec, DefaultsRoundTripInEveryVersion) {
  for_each_version<AllRequests>(DefaultsRoundTrip{});
  for_each_version<AllResponses>(DefaultsRoundTrip{});
  for_each_version<AllRecords>(DefaultsRoundTrip{});
}

struct RandomRoundTrip {
  template <class M>
  void operator()(int16_t version) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      base::Arena arena(kArenaSizeMax);
      const M m = random_message<M>(seed, version, arena);
      expect_decodes_to_itself<M>(encoded(m, version), version);
    }
  }
};

TEST(Codec, RandomMessagesRoundTripInEveryVersion) {
  for_each_version<AllRequests>(RandomRoundTrip{});
  for_each_version<AllResponses>(RandomRoundTrip{});
  for_each_version<AllRecords>(RandomRoundTrip{});
}

// Each prefix is copied to memory of its own size, so that a sanitizer sees a read past its end.
struct PrefixesRefused {
  template <class M>
  void operator()(int16_t version) {
    base::Arena source(kArenaSizeMax);
    base::Arena arena(kArenaSizeMax);
    for (uint64_t seed = 100; seed < 103; ++seed) {
      const Buffer bytes = encoded(random_message<M>(seed, version, source), version);
      for (size_t size = 0; size < bytes.size(); ++size) {
        const auto prefix = std::make_unique<std::byte[]>(size);
        std::copy_n(bytes.begin(), size, prefix.get());
        M out;
        arena.reset();
        const auto status = decode(out, Bytes(prefix.get(), size), version, arena);
        ASSERT_FALSE(status) << "prefix of " << size << " bytes";
        ASSERT_LE(status.error().position, size);
      }
    }
  }
};

TEST(Codec, EveryProperPrefixIsRefused) {
  for_each_version<AllRequests>(PrefixesRefused{});
  for_each_version<AllResponses>(PrefixesRefused{});
  for_each_version<AllRecords>(PrefixesRefused{});
}

struct TrailingByteRefused {
  template <class M>
  void operator()(int16_t version) {
    base::Arena arena(kArenaSizeMax);
    Buffer bytes = encoded(random_message<M>(7, version, arena), version);
    const size_t size = bytes.size();
    bytes.push_back(std::byte{0});
    M out;
    const auto status = decode(out, bytes, version, arena);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().reason, DecodeError::Reason::trailing_bytes);
    EXPECT_EQ(status.error().position, size);
  }
};

TEST(Codec, OneTrailingByteIsRefused) {
  for_each_version<AllResponses>(TrailingByteRefused{});
  for_each_version<AllRecords>(TrailingByteRefused{});
}

struct TrailingBytesIgnored {
  template <class M>
  void operator()(int16_t version) {
    base::Arena arena(kArenaSizeMax);
    const M message = random_message<M>(7, version, arena);
    Buffer bytes = encoded(message, version);
    const Buffer good = bytes;
    bytes.insert(bytes.end(), {std::byte{1}, std::byte{0}, std::byte{0xff}});
    M out;
    ASSERT_TRUE(decode(out, bytes, version, arena));
    EXPECT_EQ(encoded(out, version), good);
  }
};

TEST(Codec, BytesBehindARequestAreIgnored) {
  for_each_version<AllRequests>(TrailingBytesIgnored{});
  base::Arena arena(kArenaSizeMax);
  const Buffer of_librdkafka = testing::from_hex("00000000" "01" "00" "00");
  MetadataRequest all;
  ASSERT_TRUE(decode(all, of_librdkafka, 13, arena));
  EXPECT_TRUE(all.topics.is_null());
  EXPECT_FALSE(all.allow_auto_topic_creation);
}

// Flips bytes of valid messages: the result decodes or it does not, but never takes more memory
// than the factor says.
struct DamageIsBounded {
  template <class M>
  void operator()(int16_t version) {
    std::mt19937_64 random(static_cast<uint64_t>(version) * 1000 + M::kInfo.name.size());
    base::Arena source(kArenaSizeMax);
    base::Arena arena(kArenaSizeMax);
    for (uint64_t seed = 0; seed < 40; ++seed) {
      source.reset();
      Buffer bytes = encoded(random_message<M>(seed, version, source), version);
      for (int round = 0; round < 10 && !bytes.empty(); ++round) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        M out;
        arena.reset();
        const bool decoded = decode(out, bytes, version, arena).has_value();
        ASSERT_LE(arena.size_used(), kArenaBytesPerBodyByteMax * bytes.size());
        if (decoded) expect_decodes_to_itself<M>(encoded(out, version), version);
      }
    }
  }
};

TEST(Codec, DamagedMessagesStayWithinTheMemoryFactor) {
  for_each_version<AllRequests>(DamageIsBounded{});
  for_each_version<AllResponses>(DamageIsBounded{});
  for_each_version<AllRecords>(DamageIsBounded{});
}

struct SmallArenaRefused {
  template <class M>
  void operator()(int16_t version) {
    base::Arena source(kArenaSizeMax);
    const Buffer bytes = encoded(random_message<M>(11, version, source), version);
    for (size_t budget = 0; budget < 4096; budget += 64) {
      base::Arena arena(budget);
      M out;
      const auto status = decode(out, bytes, version, arena);
      if (status) return;
      ASSERT_EQ(status.error().reason, DecodeError::Reason::arena_full);
    }
  }
};

TEST(Codec, AnArenaTooSmallIsAnError) {
  for_each_version<AllRequests>(SmallArenaRefused{});
}

TEST(Codec, VersionsOutsideTheRangeAreRefused) {
  AllRequests::for_each([]<class M>() {
    base::Arena arena(kArenaSizeMax);
    M out;
    for (const int version : {-1, M::kInfo.versions.min - 1, M::kInfo.versions.max + 1, 32767}) {
      const auto status = decode(out, {}, static_cast<int16_t>(version), arena);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().reason, DecodeError::Reason::unknown_version);
    }
  });
}

TEST(Codec, DecodingOverwritesWhatWasThere) {
  base::Arena arena(kArenaSizeMax);
  FetchRequest request{.replica_id = 5, .session_epoch = 9};
  request.topics = make_array<FetchRequest::Topic>(arena, 2);
  const Buffer bytes = encoded(FetchRequest{}, 4);
  ASSERT_TRUE(decode(request, bytes, 4, arena));
  EXPECT_EQ(request.session_epoch, -1);
  EXPECT_TRUE(request.topics.empty());
}

TEST(Codec, DecodedStringsAndRecordsViewTheBody) {
  base::Arena arena(kArenaSizeMax);
  ProduceRequest request{.acks = -1, .timeout_ms = 1000};
  request.topic_data = make_array<ProduceRequest::Topic>(arena, 1);
  request.topic_data[0].name = "orders";
  request.topic_data[0].partition_data = make_array<ProduceRequest::Partition>(arena, 1);
  const Buffer records(100, std::byte{42});
  request.topic_data[0].partition_data[0].records = Records(Bytes(records));
  const Buffer body = encoded(request, 9);
  ProduceRequest out;
  ASSERT_TRUE(decode(out, body, 9, arena));
  const auto inside = [&](const void* at) { return at >= body.data() && at < &body.back() + 1; };
  ASSERT_EQ(out.topic_data.size(), 1u);
  EXPECT_EQ(out.topic_data[0].name, "orders");
  EXPECT_TRUE(inside(out.topic_data[0].name.data()));
  const Records& decoded = out.topic_data[0].partition_data[0].records;
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->size(), 100u);
  EXPECT_TRUE(inside(decoded->data()));
  EXPECT_FALSE(out.transactional_id.has_value());
}

TEST(Codec, FetchedRecordsLeaveByReference) {
  base::Arena arena(kArenaSizeMax);
  const Buffer batches(5000, std::byte{7});
  const Bytes pieces[] = {Bytes(batches).first(2000), Bytes(batches).subspan(2000)};
  FetchResponse response;
  response.responses = make_array<FetchResponse::Topic>(arena, 1);
  response.responses[0].topic = "orders";
  response.responses[0].partitions = make_array<FetchResponse::Partition>(arena, 2);
  response.responses[0].partitions[1].records.pieces = pieces;
  for (const int16_t version : {int16_t{4}, int16_t{12}}) {
    const Pieces frame = encode_response(77, ApiKey::fetch, version, response, arena);
    ASSERT_GE(frame.size(), 3u);
    size_t found = 0;
    for (const Bytes piece : frame) {
      if (piece.data() == batches.data() || piece.data() == batches.data() + 2000) ++found;
    }
    EXPECT_EQ(found, 2u);
    const Buffer flat = testing::flatten(frame);
    EXPECT_EQ(base::load_be<uint32_t>(flat.data()), flat.size() - 4);
    size_t body_position = 0;
    const Bytes after_size = Bytes(flat).subspan(4);
    const auto id = decode_response_header(after_size, ApiKey::fetch, version, body_position);
    ASSERT_EQ(id.value(), 77);
    FetchResponse out;
    ASSERT_TRUE(decode(out, after_size.subspan(body_position), version, arena));
    const auto& partitions = out.responses[0].partitions;
    EXPECT_FALSE(partitions[0].records.null) << "empty records must not be null";
    EXPECT_EQ(partitions[0].records.size(), 0u);
    ASSERT_EQ(partitions[1].records.pieces.size(), 1u);
    EXPECT_EQ(partitions[1].records.size(), batches.size());
  }
}

TEST(Codec, NullIsEncodedAsEmptyWhereTheVersionForbidsIt) {
  MetadataRequest all{.topics = Array<MetadataRequest::Topic>::null()};
  EXPECT_EQ(testing::to_hex(encoded(all, 0)), "00000000");
  EXPECT_EQ(testing::to_hex(encoded(all, 1)), "ffffffff");
  EXPECT_EQ(testing::to_hex(encoded(all, 12)), "00010000");
}

TEST(Codec, AFullArenaGivesNoFrame) {
  base::Arena arena(300, 128);
  HeartbeatResponse response;
  EXPECT_TRUE(encode_response(1, ApiKey::heartbeat, 4, response, arena).empty());
}

}  // namespace
}  // namespace weir::wire
