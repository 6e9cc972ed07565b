// Timers against a model that keeps a plain list: same timers due at the same moments, in the same
// order, never early, for random deadlines from the past to years ahead, and for jumps of the
// clock.

#include "io/timers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "io/base/random.h"

namespace weir::io {
namespace {

constexpr int64_t kMs = 1'000'000;

class ManualClock final : public Clock {
 public:
  Instant now() override { return {now_ns}; }
  int64_t wall_ms() override { return 0; }
  int64_t now_ns = 0;
};

struct Alarm {
  void on_fire() {
    fired_at_ns.push_back(clock->now_ns);
    if (order != nullptr) order->push_back(this);
    if (rearm_ns != 0) timers->arm_after(timer, rearm_ns);
  }
  void bind(ManualClock& c, Timers& t) {
    clock = &c;
    timers = &t;
    timer.bind<&Alarm::on_fire>(*this);
  }
  Timer timer;
  ManualClock* clock = nullptr;
  Timers* timers = nullptr;
  std::vector<Alarm*>* order = nullptr;
  std::vector<int64_t> fired_at_ns;
  int64_t rearm_ns = 0;
};

int64_t round_up_ms(int64_t ns) { return (ns + kMs - 1) / kMs; }

TEST(Timers, FiresAtTheMillisecondAfterTheDeadline) {
  ManualClock clock;
  clock.now_ns = 123'456'789;
  Timers timers(clock);
  Alarm alarm;
  alarm.bind(clock, timers);
  timers.arm(alarm.timer, Instant{130'000'001});
  EXPECT_LE(timers.next_deadline()->ns, 131 * kMs);
  clock.now_ns = 130'000'001;
  EXPECT_EQ(timers.fire_due(), 0u);
  EXPECT_EQ(timers.next_deadline()->ns, 131 * kMs);
  clock.now_ns = 130'999'999;
  EXPECT_EQ(timers.fire_due(), 0u);
  clock.now_ns = 131'000'000;
  EXPECT_EQ(timers.fire_due(), 1u);
  EXPECT_FALSE(alarm.timer.armed());
  EXPECT_FALSE(timers.next_deadline());
}

TEST(Timers, RearmedInItsCallbackFiresInALaterCall) {
  ManualClock clock;
  Timers timers(clock);
  Alarm alarm;
  alarm.bind(clock, timers);
  alarm.rearm_ns = -kMs;  // due already
  timers.arm(alarm.timer, Instant{0});
  EXPECT_EQ(timers.fire_due(), 1u);
  EXPECT_TRUE(alarm.timer.armed());
  clock.now_ns += kMs;
  EXPECT_EQ(timers.fire_due(), 1u);
}

TEST(Timers, CancelledByAnEarlierCallbackOfTheSameCall) {
  struct Canceller {
    void on_fire() { timers->cancel(*victim); }
    Timer timer;
    Timers* timers = nullptr;
    Timer* victim = nullptr;
  };
  ManualClock clock;
  Timers timers(clock);
  Alarm victim;
  victim.bind(clock, timers);
  Canceller canceller{.timer = {}, .timers = &timers, .victim = &victim.timer};
  canceller.timer.bind<&Canceller::on_fire>(canceller);
  timers.arm(canceller.timer, Instant{5 * kMs});
  timers.arm(victim.timer, Instant{6 * kMs});
  clock.now_ns = 10 * kMs;
  EXPECT_EQ(timers.fire_due(), 1u);
  EXPECT_TRUE(victim.fired_at_ns.empty());
  EXPECT_EQ(timers.armed_count(), 0u);
}

TEST(Timers, DestroyedWhileArmedIsForgotten) {
  ManualClock clock;
  Timers timers(clock);
  {
    Alarm alarm;
    alarm.bind(clock, timers);
    timers.arm(alarm.timer, Instant{100 * kMs});
    EXPECT_EQ(timers.armed_count(), 1u);
  }
  EXPECT_EQ(timers.armed_count(), 0u);
  EXPECT_FALSE(timers.next_deadline());
}

TEST(Timers, WheelMayGoBeforeItsTimers) {
  ManualClock clock;
  Alarm alarm;
  {
    Timers timers(clock);
    alarm.bind(clock, timers);
    timers.arm(alarm.timer, Instant{100 * kMs});
  }
  EXPECT_FALSE(alarm.timer.armed());
}

// A sleeper wakes at most once per level of the wheel, however far the deadline.
TEST(Timers, SleepWakesRarely) {
  ManualClock clock;
  clock.now_ns = 987'654'321'000;
  Timers timers(clock);
  Alarm alarm;
  alarm.bind(clock, timers);
  const Instant deadline{clock.now_ns + int64_t{86'400'000} * kMs};
  timers.arm(alarm.timer, deadline);
  int wakes = 0;
  while (alarm.timer.armed()) {
    const auto next = timers.next_deadline();
    ASSERT_TRUE(next);
    ASSERT_GT(next->ns, clock.now_ns);
    clock.now_ns = next->ns;
    timers.fire_due();
    ++wakes;
  }
  EXPECT_LE(wakes, 6);
  EXPECT_EQ(alarm.fired_at_ns.front(), round_up_ms(deadline.ns) * kMs);
}

TEST(Timers, DeadlinesBeyondTheWheelWait) {
  ManualClock clock;
  // Just before the wheel's highest digit carries.
  clock.now_ns = ((int64_t{1} << 36) - 3) * kMs;
  Timers timers(clock);
  Alarm never;
  Alarm soon;
  never.bind(clock, timers);
  soon.bind(clock, timers);
  timers.arm(never.timer, Instant{INT64_MAX});
  timers.arm(soon.timer, Instant{clock.now_ns + 70 * kMs});
  for (int i = 0; i < 200; ++i) {
    clock.now_ns += kMs;
    timers.fire_due();
  }
  EXPECT_TRUE(never.fired_at_ns.empty());
  ASSERT_EQ(soon.fired_at_ns.size(), 1u);
  EXPECT_EQ(soon.fired_at_ns.front(), ((int64_t{1} << 36) + 67) * kMs);
}

// What the model expects of one armed timer.
struct Expected {
  Alarm* alarm;
  int64_t tick;  // when it may fire
};

class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {
    clock_.now_ns = static_cast<int64_t>(random_.below(uint64_t{1} << 50));
    timers_ = std::make_unique<Timers>(clock_);
    called_tick_ = clock_.now_ns / kMs - 1;
    for (Alarm& alarm : alarms_) {
      alarm.bind(clock_, *timers_);
      alarm.order = &order_;
    }
  }

  void run() {
    for (int step = 0; step < 3'000; ++step) {
      const uint64_t choice = random_.below(10);
      if (choice < 6) arm();
      else if (choice < 7) cancel();
      else advance();
      ASSERT_EQ(timers_->armed_count(), expected_.size());
      check_next_deadline();
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  Alarm& any() { return alarms_[random_.below(alarms_.size())]; }
  void forget(Alarm& alarm) {
    std::erase_if(expected_, [&](const Expected& e) { return e.alarm == &alarm; });
  }
  int64_t draw_duration() {
    const auto bits = random_.below(44);  // up to 4.8 hours, each scale as likely as any other
    const auto magnitude = static_cast<int64_t>(random_.below(uint64_t{1} << bits));
    return random_.chance(0.1) ? -magnitude : magnitude;
  }
  void arm() {
    Alarm& alarm = any();
    forget(alarm);
    const Instant deadline{std::max<int64_t>(clock_.now_ns + draw_duration(), 0)};
    timers_->arm(alarm.timer, deadline);
    // Ticks of earlier calls are over: the next one is the earliest.
    const int64_t tick = std::max(round_up_ms(deadline.ns), called_tick_ + 1);
    expected_.push_back({&alarm, tick});
  }
  void cancel() {
    Alarm& alarm = any();
    forget(alarm);
    timers_->cancel(alarm.timer);
  }
  void advance() {
    clock_.now_ns += random_.chance(0.05) ? 300'000 * kMs : std::max<int64_t>(draw_duration(), 0);
    const int64_t now_tick = clock_.now_ns / kMs;
    std::vector<Expected> due;
    for (const Expected& e : expected_) {
      if (e.tick <= now_tick) due.push_back(e);
    }
    std::erase_if(expected_, [&](const Expected& e) { return e.tick <= now_tick; });
    std::ranges::sort(due, {}, &Expected::tick);
    order_.clear();
    const bool none = due.empty() && expected_.empty();
    ASSERT_EQ(timers_->fire_due(), due.size());
    if (!none) called_tick_ = std::max(called_tick_, now_tick);
    ASSERT_EQ(order_.size(), due.size());
    // Within one millisecond any order will do.
    for (size_t i = 0; i < due.size(); ++i) {
      const auto place = std::ranges::find(due, order_[i], &Expected::alarm);
      ASSERT_NE(place, due.end());
      ASSERT_EQ(place->tick, due[i].tick);
    }
  }
  void check_next_deadline() {
    const auto next = timers_->next_deadline();
    ASSERT_EQ(next.has_value(), !expected_.empty());
    if (!next) return;
    const int64_t earliest = std::ranges::min_element(expected_, {}, &Expected::tick)->tick;
    ASSERT_LE(next->ns, earliest * kMs);
  }

  base::RandomStream random_;
  ManualClock clock_;
  std::unique_ptr<Timers> timers_;
  std::deque<Alarm> alarms_{200};
  std::vector<Expected> expected_;
  std::vector<Alarm*> order_;
  int64_t called_tick_ = 0;  // of the last fire_due()
};

TEST(Timers, AgreesWithAPlainList) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Model(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir::io
