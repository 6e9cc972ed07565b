#include "tests/sim/explorer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace weir::simtest {
namespace {

using io::sim::LooseEnds;
using Picks = std::vector<uint32_t>;

constexpr uint64_t kSeed = 1;
constexpr const char* kNoSuchCut = "no such cut: another build, or another workload";
// All outcomes of so many are looked at: 8 sectors that are old or new.
constexpr uint64_t kOutcomesMax = 256;
constexpr uint64_t kOutcomesMaxSecond = 8;
constexpr uint64_t kSecondPointsShare = 16;  // one in so many

// One core, few partitions, a journal of a few records: a start of few events.
Scenario small_scenario() {
  Scenario s;
  s.seed = kSeed;
  s.world.faults = io::sim::Faults::none();
  s.world.faults.short_transfer = 0;
  s.world.faults.network_delay_ns = 1'000;
  s.world.disk_size_bytes = 64 << 20;
  s.journal_record_bytes = 48 << 10;
  s.journal_records = 4;
  s.segment_bytes = 16 << 10;
  s.extent_threshold = 8 << 10;  // a roll goes straight to the segment
  s.early_commit_bytes = 32 << 10;
  s.flush_bytes = 8 << 10;
  s.offsets_partitions = 1;
  s.state_partitions = 1;
  return s;
}

// Every way in which `outcomes` can fall, or, beyond `most` of them, a choice.
std::vector<Picks> ways(const std::vector<uint32_t>& outcomes, uint64_t most) {
  uint64_t product = 1;
  for (const uint32_t count : outcomes) product = std::min(product * count, most + 1);
  std::vector<Picks> all;
  if (product <= most) {
    for (Picks picks(outcomes.size(), 0);;) {
      all.push_back(picks);
      size_t i = 0;
      while (i < picks.size() && ++picks[i] == outcomes[i]) picks[i++] = 0;
      if (i == picks.size()) return all;
    }
  }
  const Picks lost(outcomes.size(), 0);
  Picks kept = outcomes;
  for (uint32_t& pick : kept) --pick;
  all = {lost, kept};
  for (size_t i = 0; i < outcomes.size() && all.size() + 2 <= most / 2; ++i) {
    all.push_back(lost);
    all.back()[i] = kept[i];
    all.push_back(kept);
    all.back()[i] = 0;
  }
  base::RandomStream random(kSeed, "loose ends");
  while (all.size() < most) {
    Picks picks = kept;
    for (uint32_t& pick : picks) pick = static_cast<uint32_t>(random.below(pick + 1));
    all.push_back(std::move(picks));
  }
  return all;
}

uint64_t key_of(uint64_t image, uint64_t told, bool second) {
  uint64_t key = (image ^ (told * 0x9E3779B97F4A7C15ull)) + (second ? 1 : 0);
  key *= 0xBF58476D1CE4E5B9ull;
  return key ^ (key >> 31);
}

bool take_number(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

// --- names ---------------------------------------------------------------------------------------

std::string to_string(const Workload& workload) {
  std::string text;
  for (const Operation operation : workload.operations) {
    if (!text.empty()) text += ',';
    text += to_string(operation);
  }
  if (text.empty()) text = "none";
  for (const Cut& cut : workload.cuts) {
    text += fmt::format("@{}:{}", cut.event, fmt::join(cut.picks, "."));
  }
  return text;
}

std::optional<Workload> workload_of(const std::string& text) {
  Workload workload;
  std::string_view rest = text;
  std::string_view names = rest.substr(0, rest.find('@'));
  rest.remove_prefix(names.size());
  while (!names.empty() && names != "none") {
    const std::string_view name = names.substr(0, names.find(','));
    const auto operation = operation_of(name);
    if (!operation) return std::nullopt;
    workload.operations.push_back(*operation);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  while (!rest.empty()) {
    Cut cut;
    rest.remove_prefix(1);  // @
    if (!take_number(rest, cut.event) || !rest.starts_with(':')) return std::nullopt;
    rest.remove_prefix(1);
    for (uint64_t pick = 0; !rest.empty() && rest[0] != '@';) {
      if (rest[0] == '.') rest.remove_prefix(1);
      if (!take_number(rest, pick)) return std::nullopt;
      cut.picks.push_back(static_cast<uint32_t>(pick));
    }
    workload.cuts.push_back(std::move(cut));
  }
  return workload.cuts.size() <= 2 ? std::optional(workload) : std::nullopt;
}

// --- one world -----------------------------------------------------------------------------------

Explorer::Explorer(Exploration& result, StateSet* seen, bool verbose)
    : result_(result), seen_(seen), scenario_(small_scenario()), model_(findings_),
      world_(kSeed, scenario_.world), context_{scenario_, world_, findings_, model_} {
  context_.verbose = verbose;
  context_.paused = false;
  world_.observe(this);
}

Explorer::~Explorer() {
  world_.observe(nullptr);
  send_away_clients();
  if (!world_.crashed()) world_.crash(io::sim::CrashKind::process_kill);
}

void Explorer::note_where() {
  const std::string where = to_string(path_);
  result_.where[where.copy(result_.where, sizeof result_.where - 1)] = 0;
}

// False: a finding, or, in a replay, the cut.
template <class Predicate>
bool Explorer::run_until(const char* what, Predicate predicate) {
  const auto over = [&] {
    return findings_.any() || world_.crashed() || engine_->failed() || predicate();
  };
  const bool ended = world_.run_until(over, kPatienceNs);
  if (findings_.any() || world_.crashed()) return false;
  if (engine_->failed()) {
    findings_.report(fmt::format("I19: the engine gave up in {}: {}", what, engine_->failure()));
  } else if (!ended) {
    findings_.report(fmt::format("I19: {} did not end", what));
  }
  return !findings_.any();
}

void Explorer::send_away_clients() {
  operator_.reset();
  watcher_.reset();
  auditor_.reset();
}

bool Explorer::start(bool again) {
  send_away_clients();
  engine_.reset();
  if (again) world_.restart(1);
  model_.set_incarnation(++starts_);
  if (!world_.platform().lock("/data", 60'000)) {
    findings_.report("the data directory stays locked");
    return false;
  }
  trace(context_, fmt::format("start {}", starts_));
  engine_ = std::make_unique<Engine>(world_, scenario_);
  engine_->start();
  if (!run_until("the start", [&] { return engine_->ready(); })) return false;
  operator_ = std::make_unique<Operator>(context_, told_, fmt::format("client-{}", starts_));
  if (path_.cuts.empty()) {
    watcher_ = std::make_unique<Watcher>(context_, TopicPartition{"t", 0},
                                         fmt::format("watcher-{}", starts_));
    watcher_->start();
  }
  return true;
}

void Explorer::set_up() {
  if (!start(false)) return;
  operator_->set_up();
  if (!run_until("the set-up", [&] { return operator_->done(); })) return;
  operator_->begin(Operation::append_idempotent);
  run_until("the set-up", [&] { return operator_->done() && model_.observed_count() >= 2; });
}

bool Explorer::perform(Operation operation) {
  path_.operations.push_back(operation);
  note_where();
  trace(context_, fmt::format("--- {}", to_string(operation)));
  if (operation != Operation::clean_stop) {
    watcher_->look_closely();
    operator_->begin(operation);
    return run_until(to_string(operation).data(), [&] { return operator_->done(); });
  }
  send_away_clients();
  world_.request_stop();
  return run_until("the stop", [&] { return world_.stopped(); }) && start(true);
}

// --- cuts ----------------------------------------------------------------------------------------

// After every event: where the disk did something, or a promise was made, a cut may show something
// that it did not before.
void Explorer::on_step() {
  if (replayed_ != nullptr && path_.cuts.size() < replayed_->cuts.size()) {
    const Cut& next = replayed_->cuts[path_.cuts.size()];
    if (world_.event_count() == next.event && !world_.crashed()) {
      const LooseEnds ends = world_.disk().loose_ends();
      if (ends.outcomes().size() == next.picks.size()) return cut(ends, next.picks);
      findings_.report(kNoSuchCut);
    }
  }
  if (level_ == Level::none || world_.crashed() || findings_.any()) return;
  const uint64_t told = told_.hash(model_);
  if (world_.disk().io_events() == last_io_ && told == last_told_) return;
  last_io_ = world_.disk().io_events();
  last_told_ = told;
  const bool second = level_ == Level::second;
  if (second && !is_second_point()) return;
  ++result_.crash_points;
  const LooseEnds ends = world_.disk().loose_ends();
  for (const Picks& picks : ways(ends.outcomes(), second ? kOutcomesMaxSecond : kOutcomesMax)) {
    look_at(ends, picks, told);
    if (world_.crashed() || findings_.any()) return;
  }
}

// Second cuts at all events would be most of the work: each start has a share of its events, and
// starts that differ have different ones.
bool Explorer::is_second_point() const {
  const uint64_t point = first_key_ ^ (world_.event_count() * 0x9E3779B97F4A7C15ull);
  return ((point * 0xBF58476D1CE4E5B9ull) >> 32) % kSecondPointsShare == 0;
}

// A new state gets a process. That one returns with a dead world, so that straight-line code of
// the engine unwinds as after every crash; in_a_process() judges when all has returned.
void Explorer::look_at(const LooseEnds& ends, const Picks& picks, uint64_t told) {
  ++result_.outcomes;
  const bool second = level_ == Level::second;
  const uint64_t image = world_.disk().hash_as(ends, picks);
  if (second && seen_->contains(key_of(image, told, false))) return;
  if (!seen_->insert(key_of(image, told, second))) return;
  ++result_.states;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT(child >= 0);
  if (child == 0) {
    if (!second) first_key_ = key_of(image, told, false);
    level_ = Level::none;
    return cut(ends, picks);
  }
  if (!passed(child)) findings_.report("in another process");  // this one ends, too
}

void Explorer::cut(const LooseEnds& ends, const Picks& picks) {
  path_.cuts.push_back({world_.event_count(), picks});
  note_where();
  trace(context_, fmt::format("--- power cut {}", to_string(path_)));
  world_.power_cut_as(ends, picks);
}

void Explorer::judge() {
  send_away_clients();
  level_ = path_.cuts.size() == 1 && replayed_ == nullptr ? Level::second : Level::none;
  if (!start(true)) return;
  level_ = Level::none;
  auditor_ = std::make_unique<Auditor>(context_, fmt::format("auditor-{}", starts_));
  auditor_->start();
  if (!run_until("reading everything back", [&] { return auditor_->done(); })) return;
  auditor_.reset();
  operator_->verify();
  run_until("the check", [&] { return operator_->done(); });
}

template <class Function>
bool Explorer::in_a_process(Function function) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT(child >= 0);
  if (child == 0) {
    function();
    while (world_.crashed() && !findings_.any()) judge();
    if (findings_.any() && !result_.any_finding) {
      result_.any_finding = true;
      const std::string& finding = findings_.first();
      result_.finding[finding.copy(result_.finding, sizeof result_.finding - 1)] = 0;
    }
    ::_exit(findings_.any() ? 1 : 0);
  }
  return passed(child);
}

bool Explorer::passed(int child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) && !result_.any_finding) {
    result_.any_finding = true;
    const std::string text = fmt::format("an assertion (signal {})", WTERMSIG(status));
    result_.finding[text.copy(result_.finding, sizeof result_.finding - 1)] = 0;
  }
  if (!result_.any_finding) note_where();
  return !result_.any_finding;
}

// --- workloads -----------------------------------------------------------------------------------

void Explorer::explore(std::optional<Operation> first, size_t operations_max) {
  if (!first) {
    in_a_process([&] {
      level_ = Level::first;
      set_up();
    });
    return;
  }
  in_a_process([&] {
    set_up();
    if (findings_.any() || world_.crashed() || !operator_->applies(*first)) return;
    level_ = Level::first;
    if (!perform(*first)) return;
    ++result_.workloads;
    if (operations_max > 1) explore_behind(operations_max - 1);
  });
}

void Explorer::explore_behind(size_t operations_left) {
  for (int i = 0; i <= static_cast<int>(kLastOperation); ++i) {
    const auto operation = static_cast<Operation>(i);
    if (!operator_->applies(operation)) continue;
    const bool passed = in_a_process([&] {
      if (!perform(operation)) return;
      ++result_.workloads;
      if (operations_left > 1) explore_behind(operations_left - 1);
    });
    if (!passed) return;
  }
}

std::string Explorer::replay(const Workload& workload) {
  replayed_ = &workload;
  set_up();
  for (const Operation operation : workload.operations) {
    if (findings_.any() || world_.crashed()) break;
    if (!operator_->applies(operation)) return "no such workload: " + to_string(workload);
    perform(operation);
  }
  while (world_.crashed() && !findings_.any()) judge();
  if (!findings_.any() && path_.cuts.size() < workload.cuts.size()) return kNoSuchCut;
  return findings_.first();
}

}  // namespace weir::simtest
