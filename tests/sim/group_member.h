#pragma once
// GroupMember: a member of one consumer group (KIP-848). It joins, says what it has, does what it
// is told, leaves and comes back; connections break and the broker crashes in between.
//
//   G1  no partition is with two members at once
//   G2  a member that was told its epoch is known, until it was silent for too long
//   G3  it is fenced only where an answer of its own was lost
//   G4  who joins is told no epoch below one that somebody was told before it asked
//
// A member that was not answered for kSilenceMaxNs gives up what it has, as its session may have
// ended; the broker's sessions are longer than that.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/sim/actor.h"

namespace weir::simtest {

// Topic id and partition.
using GroupPartition = std::pair<ByteString, int32_t>;

// Who has what, in the eyes of the members of one group.
class GroupWatch {
 public:
  // "" or the name of the member that has it already.
  std::string take(const GroupPartition& partition, const std::string& member);
  void release(const GroupPartition& partition) { owners_.erase(partition); }
  void told(int32_t epoch) { highest_epoch_ = std::max(highest_epoch_, epoch); }
  int32_t highest_epoch() const { return highest_epoch_; }

 private:
  std::map<GroupPartition, std::string> owners_;
  int32_t highest_epoch_ = 0;
};

class GroupMember : public Actor {
 public:
  GroupMember(Context& context, GroupWatch& watch, std::string name);
  bool done() const override { return finished_; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override;
  bool wants_connection() const override { return !finished_; }

 private:
  static constexpr int64_t kSilenceMaxNs = 30'000'000'000;

  void send_heartbeat(int32_t epoch);
  void on_heartbeat(Reader& body);
  void on_refused(int error);
  void set_owned(std::set<GroupPartition> owned);
  void start_anew();

  GroupWatch& watch_;
  std::string id_;
  uint32_t lives_ = 1;
  bool created_ = false;  // the topic is there
  bool finished_ = false;
  uint32_t left_;         // heartbeats
  int32_t epoch_ = 0;     // 0: no member
  int32_t sent_epoch_ = 0;
  int32_t floor_epoch_ = 0;  // the highest that was known when it was sent
  int64_t sent_ns_ = 0;   // the request under way
  int64_t heard_ns_ = 0;  // when the last request was sent that was answered
  bool unsure_ = false;   // a request was lost since then
  std::set<GroupPartition> owned_;
};

}  // namespace weir::simtest
