#pragma once
// The nouns of a Kafka-compatible log as types that do not mix.

#include <cstdint>
#include <functional>

#include "io/base/strong_int.h"

namespace weir::model {

// A record's number in its partition; points: offset - offset = count.
using Offset = base::StrongInt<struct OffsetTag, int64_t>;
using PartitionIndex = base::StrongInt<struct PartitionIndexTag, int32_t>;
// Never shown to clients and never given twice: a topic deleted and created again has another one.
using TopicSerial = base::StrongInt<struct TopicSerialTag, uint32_t>;
using LeaderEpoch = base::StrongInt<struct LeaderEpochTag, int32_t>;
using ProducerId = base::StrongInt<struct ProducerIdTag, int64_t>;
using ProducerEpoch = base::StrongInt<struct ProducerEpochTag, int16_t>;
using Sequence = base::StrongInt<struct SequenceTag, int32_t>;
// One start of this node; also the leader epoch of everything written during it.
using Incarnation = base::StrongInt<struct IncarnationTag, int32_t>;

inline constexpr ProducerId kNoProducerId{-1};
inline constexpr Offset kNoOffset{-1};
inline constexpr int64_t kNoTimestamp = -1;

// One partition of one life of a topic.
struct PartitionKey {
  TopicSerial topic;
  PartitionIndex index;
  auto operator<=>(const PartitionKey&) const = default;
};

}  // namespace weir::model

template <>
struct std::hash<weir::model::PartitionKey> {
  size_t operator()(const weir::model::PartitionKey& key) const noexcept {
    const uint64_t word = (uint64_t{key.topic.value()} << 32) |
                          static_cast<uint32_t>(key.index.value());
    return std::hash<uint64_t>{}(word * 0x9E3779B97F4A7C15ull);
  }
};
