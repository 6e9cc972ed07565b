// Proves that docs/CONFIG.md, docs/METRICS.md and docs/PROTOCOL.md say what the program does: they
// are written from the same descriptions as --help, /metrics and ApiVersions. After a change there,
// run this test with WEIR_WRITE_DOCS=1 and commit what it writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "engine/broker/config.h"
#include "engine/broker/metrics.h"
#include "engine/catalog/topic_config.h"
#include "engine/wire/api_key.h"

namespace weir::broker {
namespace {

namespace fs = std::filesystem;

std::string header(std::string_view title, std::string_view about) {
  return fmt::format(
      "# {}\n\n{}\n\nWritten from the code; `WEIR_WRITE_DOCS=1 build/test/tests/test_engine_broker "
      "--gtest_filter='Docs.*'` writes it anew.\n\n",
      title, about);
}

// A "|" would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void print_settings(std::string& out, const std::vector<model::SettingInfo>& settings,
                    bool of_topics) {
  out += of_topics ? "| setting | default | allowed | broker's setting for the default | |\n"
                   : "| setting | default | allowed | | |\n";
  out += "| --- | --- | --- | --- | --- |\n";
  for (const model::SettingInfo& info : settings) {
    const std::string last = of_topics ? std::string(info.spec.synonym)
                                       : std::string(info.spec.dynamic ? "while it runs" : "");
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} | {} |\n", info.name,
                   cell(info.default_value.value_or("(unset)")),
                   cell(model::allowed_values(info.type, info.spec)), last, cell(info.spec.doc));
  }
}

std::string config_document() {
  std::string out =
      header("Settings",
             "For `weir serve --set NAME=VALUE` and `--config FILE` (TOML). \"While it runs\": "
             "IncrementalAlterConfigs changes it without a restart.");
  print_settings(out, Config{}.list(), false);
  out += "\n## Of a topic\n\nGiven with CreateTopics, changed with IncrementalAlterConfigs.\n\n";
  print_settings(out, catalog::topic_settings(), true);
  return out;
}

std::string metrics_document() {
  std::string out = header("Metrics", "What `/metrics` gives, in the text format of Prometheus.");
  out += "| metric | type | |\n| --- | --- | --- |\n";
  std::istringstream lines(MetricsSnapshot{}.text());
  std::string name;
  std::string sentence;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      const size_t space = line.find(' ', 7);
      name = line.substr(7, space - 7);
      sentence = line.substr(space + 1);
    } else if (line.starts_with("# TYPE ")) {
      fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", name,
                     line.substr(line.rfind(' ') + 1), cell(sentence));
    }
  }
  return out;
}

std::string protocol_document() {
  std::string out = header("Protocol", "The APIs of the Kafka protocol that ApiVersions announces, "
                                       "with their versions. Others are not served.");
  out += "| key | API | versions |\n| --- | --- | --- |\n";
  for (const wire::ApiInfo& api : wire::kApis) {
    if (!api.served) continue;
    fmt::format_to(std::back_inserter(out), "| {} | {} | {}-{} |\n", static_cast<int>(api.key),
                   api.name, api.min_version, api.max_version);
  }
  return out;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_document(const char* name, const std::string& wanted) {
  const fs::path path = fs::path(WEIR_SOURCE_DIR) / "docs" / name;
  if (std::getenv("WEIR_WRITE_DOCS") != nullptr) std::ofstream(path, std::ios::binary) << wanted;
  EXPECT_TRUE(read(path) == wanted) << path << " is not what the code says; see this file's head";
}

TEST(Docs, settings) { expect_document("CONFIG.md", config_document()); }
TEST(Docs, metrics) { expect_document("METRICS.md", metrics_document()); }
TEST(Docs, protocol) { expect_document("PROTOCOL.md", protocol_document()); }

}  // namespace
}  // namespace weir::broker
