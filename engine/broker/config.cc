#include "engine/broker/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/broker/catalog_topics.h"
#include "io/base/units.h"

namespace weir::broker {
namespace {

using model::SettingInfo;
using model::SettingType;

// Older names of the same settings.
struct Alias {
  std::string_view name;
  std::string_view canonical;
};
constexpr std::array kAliases = {Alias{"broker.id", "node.id"}, Alias{"log.dir", "log.dirs"}};

// What tools look for and this broker cannot change: shown, never set.
struct Fixed {
  std::string_view name;
  SettingType type;
  std::string_view value;
  std::string_view doc;
};
constexpr std::array kFixed = {
    Fixed{"inter.broker.protocol.version", SettingType::string, "4.0-IV3",
          "Tools read from it which APIs a broker has."},
    Fixed{"log.cleaner.threads", SettingType::int32, "1",
          "Each core compacts what it has, one log at a time."},
    Fixed{"offsets.topic.replication.factor", SettingType::int16, "1",
          "One node holds one replica."},
    Fixed{"process.roles", SettingType::list, "broker,controller", "One node is everything."},
    Fixed{"sasl.enabled.mechanisms", SettingType::list, "", "Nobody has to log in."},
    Fixed{"transaction.state.log.replication.factor", SettingType::int16, "1",
          "One node holds one replica."},
};

// Visitor: lets another visitor see topic settings as the broker settings that are their synonyms.
template <class Visitor>
struct BySynonym {
  Visitor& visitor;

  template <class T>
  void operator()(std::string_view, T& member, const model::SettingSpec& spec) {
    if (spec.synonym.empty()) return;
    model::SettingSpec as_broker = spec;
    as_broker.dynamic = true;
    visitor(spec.synonym, member, as_broker);
  }
};

std::string_view canonical_name(std::string_view name) {
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? name : found->canonical;
}

SettingInfo fixed_info(const Fixed& fixed) {
  return {.name = fixed.name,
          .type = fixed.type,
          .spec = {.doc = fixed.doc},
          .value = std::string(fixed.value),
          .default_value = std::string(fixed.value)};
}

int64_t to_ms(int32_t count, int64_t unit_ms) { return count < 0 ? -1 : count * unit_ms; }

}  // namespace

template <class Self, class Visitor>
void Config::visit_parts(Self& self, Visitor& visitor) {
  ServerSettings::describe(visitor, self.server);
  catalog::Settings::describe(visitor, self.catalog);
  group::GroupConfig::describe(visitor, self.group);
  transaction::TransactionConfig::describe(visitor, self.transaction);
  handlers::Config::describe(visitor, self.handlers);
  connection::Config::describe(visitor, self.connection);
  partition::Config::describe(visitor, self.partition);
  BySynonym<Visitor> by_synonym{visitor};
  catalog::TopicConfig::describe(by_synonym, self.catalog.topic_defaults);
}

base::Status Config::set(std::string_view name, std::string_view value) {
  const std::string_view canonical = canonical_name(name);
  if (is_given(canonical)) return base::error(0, fmt::format("Setting {} is given twice", name));
  model::SettingSetter setter{canonical, value};
  visit_parts(*this, setter);
  CHECK_OK(setter.status);
  if (!setter.found) return unknown_setting(name);
  given_.emplace(canonical);
  return {};
}

base::Status Config::unknown_setting(std::string_view name) const {
  if (std::ranges::find(kFixed, name, &Fixed::name) != kFixed.end()) {
    return base::error(0, fmt::format("Setting {} cannot be changed in this broker", name));
  }
  const auto infos = list();
  const std::string_view near = model::nearest_name(name, infos);
  return base::error(0, near.empty()
                            ? fmt::format("Unknown setting {}", name)
                            : fmt::format("Unknown setting {}; did you mean {}?", name, near));
}

base::Status Config::finish() {
  convert_time_units();
  CHECK_OK(catalog::check_topic_config(catalog.topic_defaults));
  CHECK_OK(group.check());
  catalog.group_settings = group_settings_of(group);
  if (server.data_dir.empty() || server.data_dir.find(',') != std::string::npos) {
    return base::error(
        0, fmt::format("Invalid value '{}' for setting log.dirs: allowed is one directory",
                       server.data_dir));
  }
  journal.size_max =
      base::round_down(static_cast<uint64_t>(server.journal_size_bytes), journal.growth_step);
  return check_listeners();
}

// As in Kafka: ms before minutes before hours.
void Config::convert_time_units() {
  constexpr int64_t kMinuteMs = 60'000;
  constexpr int64_t kHourMs = 60 * kMinuteMs;
  catalog::TopicConfig& defaults = catalog.topic_defaults;
  if (!is_given("log.retention.ms")) {
    if (is_given("log.retention.minutes") && server.log_retention_minutes >= -1) {
      defaults.retention_ms = to_ms(server.log_retention_minutes, kMinuteMs);
    } else if (is_given("log.retention.hours")) {
      defaults.retention_ms = to_ms(server.log_retention_hours, kHourMs);
    }
  }
  if (!is_given("log.roll.ms") && is_given("log.roll.hours")) {
    defaults.segment_ms = to_ms(server.log_roll_hours, kHourMs);
  }
  if (!is_given("log.roll.jitter.ms") && is_given("log.roll.jitter.hours")) {
    defaults.segment_jitter_ms = to_ms(server.log_roll_jitter_hours, kHourMs);
  }
}

base::Status Config::check_listeners() const {
  TRY(const auto addresses, parse_addresses(server.listeners));
  for (const io::Address& address : addresses) {
    if (is_loopback(address.host) || server.insecure_open_listener) continue;
    return base::error(
        0,
        fmt::format("Listener {}:{} can be reached from other machines, and nobody has to log in. "
                    "Set insecure.open.listener = true if that is meant",
                    address.host, address.port));
  }
  if (!server.http_listener.empty()) CHECK_OK(parse_address(server.http_listener));
  if (server.advertised_listeners.empty()) return {};
  TRY(const auto advertised, parse_addresses(server.advertised_listeners));
  if (advertised.size() != 1 || advertised[0].port == 0 || is_wildcard(advertised[0].host)) {
    return base::error(
        0, fmt::format("Invalid value '{}' for setting advertised.listeners: allowed is "
                       "one address that clients can connect to",
                       server.advertised_listeners));
  }
  return {};
}

std::vector<SettingInfo> Config::list() const {
  std::vector<SettingInfo> infos;
  std::vector<SettingInfo> defaults;
  model::SettingLister lister{infos};
  visit_parts(*this, lister);
  model::SettingLister default_lister{defaults};
  const Config untouched;
  visit_parts(untouched, default_lister);
  for (size_t i = 0; i < infos.size(); ++i) {
    infos[i].default_value = std::move(defaults[i].value);
    infos[i].given = is_given(infos[i].name);
    if (infos[i].spec.synonym_unset) {
      infos[i].default_value = std::nullopt;
      if (!infos[i].given) infos[i].value = std::nullopt;
    }
  }
  for (const Fixed& fixed : kFixed) infos.push_back(fixed_info(fixed));
  for (const Alias& alias : kAliases) {
    SettingInfo info = *std::ranges::find(infos, alias.canonical, &SettingInfo::name);
    info.name = alias.name;
    infos.push_back(std::move(info));
  }
  std::ranges::sort(infos, {}, &SettingInfo::name);
  return infos;
}

std::vector<io::Address> Config::listen_addresses() const {
  auto addresses = parse_addresses(server.listeners);
  ASSERT(addresses.has_value(), "before finish()");
  for (io::Address& address : *addresses) {
    if (address.host == "localhost") address.host = "127.0.0.1";
  }
  return *std::move(addresses);
}

io::Address Config::advertised_address() const {
  if (server.advertised_listeners.empty()) return {};
  auto address = parse_address(server.advertised_listeners);
  ASSERT(address.has_value(), "before finish()");
  return *std::move(address);
}

io::Address Config::http_address() const {
  if (server.http_listener.empty()) return {};
  auto address = parse_address(server.http_listener);
  ASSERT(address.has_value(), "before finish()");
  return *std::move(address);
}

base::Result<io::Address> parse_address(std::string_view text) {
  const auto invalid = [text](std::string_view why) {
    return base::error(0, fmt::format("Invalid address '{}': {}", text, why));
  };
  std::string_view rest = model::setting_detail::trim(text);
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    if (rest.substr(0, scheme) != "PLAINTEXT") return invalid("only PLAINTEXT is served");
    rest.remove_prefix(scheme + 3);
  }
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return invalid("allowed is host:port");
  const std::string_view digits = rest.substr(colon + 1);
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return invalid("an IPv6 address needs brackets: [::1]:9092");
  }
  uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc{} || end != digits.data() + digits.size()) {
    return invalid("allowed ports are 0 ... 65535");
  }
  if (host.find_first_of(" \t,/") != std::string_view::npos) return invalid("this is no host name");
  return io::Address{.host = std::string(host.empty() ? "0.0.0.0" : host), .port = port};
}

base::Result<std::vector<io::Address>> parse_addresses(std::string_view text) {
  std::vector<io::Address> addresses;
  while (true) {
    const size_t comma = text.find(',');
    TRY(io::Address address, parse_address(text.substr(0, comma)));
    addresses.push_back(std::move(address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool is_wildcard(std::string_view host) { return host == "0.0.0.0" || host == "::" || host == "*"; }

}  // namespace weir::broker
