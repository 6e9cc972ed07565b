#include "tests/sim/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <type_traits>

namespace weir::simtest {
namespace {

// A number of the scenario itself.
template <auto Member>
constexpr Knob number(std::string_view name, uint64_t least) {
  return {name, least, [](const Scenario& s) { return static_cast<uint64_t>(s.*Member); },
          [](Scenario& s, uint64_t value) {
            s.*Member = static_cast<std::remove_reference_t<decltype(s.*Member)>>(value);
          }};
}

// Off is the member's zero.
template <auto Member>
constexpr Knob chance(std::string_view name) {
  return {name, 0, [](const Scenario& s) { return s.*Member > 0 ? uint64_t{1} : uint64_t{0}; },
          [](Scenario& s, uint64_t value) {
            if (value == 0) s.*Member = 0;
          }};
}

template <auto Member>
constexpr Knob fault(std::string_view name) {
  return {name, 0,
          [](const Scenario& s) { return s.world.faults.*Member > 0 ? uint64_t{1} : uint64_t{0}; },
          [](Scenario& s, uint64_t value) {
            if (value == 0) s.world.faults.*Member = 0;
          }};
}

int32_t most_partitions(const Scenario& s) {
  int32_t most = 1;
  for (const TopicPlan& topic : s.topics) most = std::max(most, topic.partitions);
  return most;
}

bool any_retention(const Scenario& s) {
  return std::ranges::any_of(s.topics, [](const TopicPlan& topic) {
    return topic.retention_ms >= 0 || topic.retention_bytes >= 0;
  });
}

using io::sim::Faults;

constexpr Knob kKnobs[] = {
    {"crashes", 0, [](const Scenario& s) { return uint64_t{s.crashes.size()}; },
     [](Scenario& s, uint64_t value) { s.crashes.resize(static_cast<size_t>(value)); }},
    number<&Scenario::transactors>("transactors", 0),
    number<&Scenario::group_members>("members", 0),
    number<&Scenario::keyed_writers>("keyed", 0),
    number<&Scenario::hostile_clients>("hostile", 0),
    number<&Scenario::trimmers>("trimmers", 0),
    number<&Scenario::committers>("committers", 0),
    number<&Scenario::consumers>("consumers", 0),
    number<&Scenario::plain_producers>("plain", 0),
    number<&Scenario::idempotent_producers>("idempotent", 0),
    {"topics", 1, [](const Scenario& s) { return uint64_t{s.topics.size()}; },
     [](Scenario& s, uint64_t value) { s.topics.resize(static_cast<size_t>(value)); }},
    {"partitions", 1, [](const Scenario& s) { return static_cast<uint64_t>(most_partitions(s)); },
     [](Scenario& s, uint64_t value) {
       for (TopicPlan& topic : s.topics) {
         topic.partitions = std::min(topic.partitions, static_cast<int32_t>(value));
       }
     }},
    number<&Scenario::batches_per_producer>("batches", 1),
    number<&Scenario::records_max>("records", 1),
    number<&Scenario::value_size_max>("value", 1),
    number<&Scenario::pipeline_max>("pipeline", 1),
    number<&Scenario::parts_max>("parts", 1),
    {"cores", 1, [](const Scenario& s) { return uint64_t{s.cores_max}; },
     [](Scenario& s, uint64_t value) {
       s.cores_max = s.world.core_count = static_cast<uint16_t>(value);
       s.cores_min = std::min(s.cores_min, s.cores_max);
     }},
    {"retention", 0, [](const Scenario& s) { return any_retention(s) ? uint64_t{1} : uint64_t{0}; },
     [](Scenario& s, uint64_t value) {
       if (value > 0) return;
       for (TopicPlan& topic : s.topics) topic.retention_ms = topic.retention_bytes = -1;
     }},
    chance<&Scenario::cleaner_backoff_ms>("compaction"),
    chance<&Scenario::duplicate_chance>("duplicates"),
    chance<&Scenario::odd_time_chance>("odd_times"),
    number<&Scenario::recover_twice>("recover_twice", 0),
    number<&Scenario::stop_cleanly>("stop_cleanly", 0),
    number<&Scenario::rot>("rot", 0),
    number<&Scenario::disk_fills>("disk_fills", 0),
    {"disk_errors", 0, [](const Scenario& s) { return s.disk_errors ? uint64_t{1} : uint64_t{0}; },
     [](Scenario& s, uint64_t value) {
       if (value > 0) return;
       s.disk_errors = false;
       s.world.faults.write_error = s.world.faults.sync_error = 0;
     }},
    fault<&Faults::read_error>("read_error"),
    fault<&Faults::short_read>("short_read"),
    fault<&Faults::short_write>("short_write"),
    fault<&Faults::interrupted>("interrupted"),
    fault<&Faults::stuck_io>("stuck_io"),
    fault<&Faults::torn_sector>("torn_sector"),
    fault<&Faults::reset>("reset"),
    fault<&Faults::accept_error>("accept_error"),
    fault<&Faults::short_transfer>("short_transfer"),
    fault<&Faults::network_stall>("network_stall"),
    fault<&Faults::core_stall>("core_stall"),
    fault<&Faults::wall_jump>("wall_jump"),
};

}  // namespace

std::span<const Knob> knobs() { return kKnobs; }

void reschedule(Scenario& scenario, uint64_t drawn_seed, uint64_t schedule) {
  scenario.seed = drawn_seed + schedule * 1'000'000'007;
}

std::string turn_down(Scenario& scenario, std::string_view settings) {
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(settings.size(), setting.size() + 1));
    const size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view name = setting.substr(0, equals);
    uint64_t value = 0;
    const std::string_view digits = setting.substr(std::min(equals + 1, setting.size()));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool number = error == std::errc() && end == digits.data() + digits.size();
    if (name == "schedule" && number) {
      reschedule(scenario, scenario.seed, value);
      continue;
    }
    const auto* knob = std::ranges::find(kKnobs, name, &Knob::name);
    if (knob == std::end(kKnobs)) {
      std::string names = " schedule";
      for (const Knob& known : kKnobs) names += fmt::format(" {}", known.name);
      return fmt::format("'{}' names no option; there are{}", setting, names);
    }
    const uint64_t most = knob->get(scenario);
    if (!number || value > most || value < std::min(knob->least, most)) {
      return fmt::format("'{}': {} is {} here, and goes down to {}", setting, knob->name, most,
                         std::min(knob->least, most));
    }
    knob->set(scenario, value);
  }
  return {};
}

}  // namespace weir::simtest
