#pragma once
// Actor: a simulated client as a step machine: one connection, one timer. It connects again
// whenever the connection is lost, and acts when its connection is open and its pause is over.

#include <deque>
#include <string>

#include "io/sim/sim_world.h"
#include "tests/sim/clock_watch.h"
#include "tests/sim/kafka_requests.h"
#include "tests/sim/model.h"
#include "tests/sim/rot.h"
#include "tests/sim/scenario.h"

namespace weir::simtest {

inline constexpr uint16_t kBrokerPort = 9092;
inline constexpr int64_t kRequestTimeoutNs = 120'000'000'000;

// What all clients of a run share.
struct Context {
  const Scenario& scenario;
  io::sim::SimWorld& world;
  Findings& findings;
  Model& model;
  bool paused = true;   // clients start nothing; set while recovery is checked
  bool verbose = false;
  ClockWatch clock{world.clock()};
  std::vector<RotRange> rot{};  // what reads may refuse from now on
};

void trace(const Context& context, const std::string& line);

class Actor : private io::sim::EventTarget, private io::sim::SimClient::Handler {
 public:
  Actor(Context& context, std::string name);
  ~Actor() override;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  void start() { wake_after(1'000); }
  void resume() { wake_after(1'000); }
  virtual bool done() const = 0;  // nothing left to do, nothing unanswered
  const std::string& name() const { return name_; }

 protected:
  // The connection is open and the pause is over. Sends requests, or wakes itself later, or waits.
  virtual void act() = 0;
  virtual void on_response(int32_t correlation, Api api, Reader& body) = 0;
  // The outcome of every outstanding request is unknown.
  virtual void on_lost() = 0;
  // Whether the connection is of use now; without it act() does not run.
  virtual bool wants_connection() const { return true; }
  virtual bool works_while_paused() const { return false; }
  virtual bool ignores_answers() const { return false; }

  int32_t send(Api api, int version, ByteSpan body);
  void send_raw(ByteSpan bytes) { client_.send(bytes); }
  size_t outstanding() const { return outstanding_.size(); }
  bool open() const { return client_.connected(); }
  void drop_connection(bool by_reset);
  void wake_after(int64_t delay_ns);
  void fail(const std::string& what);

  Context& context_;
  base::RandomStream random_;

 private:
  struct Outstanding {
    int32_t correlation;
    Api api;
  };
  enum Kind : uint32_t { kWake, kTimeout };

  void on_event(uint32_t kind, uint64_t argument) override;
  void on_connected() override;
  void on_data() override;
  void on_closed() override;
  void wake();

  std::string name_;
  io::sim::SimClient client_;
  std::deque<Outstanding> outstanding_;
  int32_t next_correlation_ = 1;
  uint64_t wake_number_ = 0;  // the only wake-up that still counts
};

}  // namespace weir::simtest
