// What a reviewer should not have to look for: includes follow the layers, files and functions stay
// short, the engine calls nothing that the simulator cannot see, nothing half-done is left behind.
//
// Reads the sources under WEIR_SOURCE_DIR; each finding is file:line and the rule.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr size_t kFileLinesMax = 600;
constexpr size_t kTestLinesMax = 800;
constexpr size_t kFunctionLinesMax = 70;
constexpr size_t kColumnsMax = 100;

struct Source {
  std::string path;    // from the repository's top
  std::string folder;  // "engine/log"
  std::vector<std::string> lines;
};

bool has_suffix(std::string_view text, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](auto suffix) { return text.ends_with(suffix); });
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

// C++ sources and headers of the tree, sorted.
const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    const fs::path root(WEIR_SOURCE_DIR);
    std::vector<Source> found;
    for (const char* top : {"io", "engine", "tests", "tools", "bench"}) {
      if (!fs::exists(root / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        if (!entry.is_regular_file() || !has_suffix(entry.path().native(), {".h", ".cc"})) continue;
        const fs::path relative = fs::relative(entry.path(), root);
        found.push_back({.path = relative.string(),
                         .folder = relative.parent_path().string(),
                         .lines = read_lines(entry.path())});
      }
    }
    std::ranges::sort(found, {}, &Source::path);
    return found;
  }();
  return all;
}

bool under(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

// The line without what stands in strings and after "//".
std::string code_of(const std::string& line) {
  std::string code;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (in_string) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '"') {
        in_string = false;
        code += '"';
      }
      continue;
    }
    if (line.compare(i, 2, "//") == 0) break;
    if (line.compare(i, 3, "'\"'") == 0) {
      code += "' '";
      i += 2;
      continue;
    }
    if (line[i] == '"') in_string = true;
    code += line[i];
  }
  return code;
}

size_t columns(std::string_view line) {  // code points, not bytes
  return static_cast<size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Findings of one rule; a test ends with expect_none().
class Findings {
 public:
  void add(const Source& source, size_t line_index, std::string_view what) {
    text_ += fmt::format("  {}:{}: {}\n", source.path, line_index + 1, what);
    ++count_;
  }
  void expect_none() const { EXPECT_EQ(count_, 0u) << text_; }

 private:
  std::string text_;
  size_t count_ = 0;
};

// --- includes follow the layers ---

// What a folder may include besides itself. The law is LAYOUT's direction of dependencies, with one
// recorded exception: groups and transactions write their records with wire's codecs
// (docs/ARCHITECTURE.md).
const std::map<std::string, std::set<std::string>>& allowed_includes() {
  static const std::set<std::string> io = {"io", "io/base"};
  const auto with = [](std::set<std::string> base, std::initializer_list<const char*> more) {
    base.insert(more.begin(), more.end());
    return base;
  };
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"io/base", {}},
      {"io", {"io/base"}},
      {"io/posix", io},
      {"io/uring", with(io, {"io/posix"})},
      {"io/sim", io},
      {"engine/model", io},
      {"engine/wire", {"io/base", "engine/model"}},
      {"engine/log", with(io, {"engine/model"})},
      {"engine/journal", with(io, {"engine/model"})},
      {"engine/partition", with(io, {"engine/model", "engine/log", "engine/journal"})},
      {"engine/catalog",
       with(io, {"engine/model", "engine/log", "engine/journal", "engine/partition"})},
      {"engine/group", with(io, {"engine/model", "engine/log", "engine/journal",
                                 "engine/partition", "engine/wire"})},
      {"engine/transaction", with(io, {"engine/model", "engine/log", "engine/journal",
                                       "engine/partition", "engine/wire"})},
      {"engine/handlers",
       with(io, {"engine/model", "engine/log", "engine/journal", "engine/partition",
                 "engine/catalog", "engine/group", "engine/transaction", "engine/wire"})},
      {"engine/connection",
       with(io, {"engine/model", "engine/log", "engine/journal", "engine/partition",
                 "engine/catalog", "engine/group", "engine/transaction", "engine/wire",
                 "engine/handlers"})},
      {"engine/broker",
       with(io, {"engine/model", "engine/log", "engine/journal", "engine/partition",
                 "engine/catalog", "engine/group", "engine/transaction", "engine/wire",
                 "engine/handlers", "engine/connection"})},
      {"engine", with(io, {"engine/broker", "io/uring", "io/posix"})},
  };
  return allowed;
}

// "engine/wire/messages" belongs to the layer "engine/wire", "engine/weir.h" to "engine".
std::string layer_of(const std::string& folder) {
  std::string layer = folder;
  while (!allowed_includes().contains(layer)) {
    const size_t slash = layer.rfind('/');
    if (slash == std::string::npos) return layer;
    layer.resize(slash);
  }
  return layer;
}

// The path of an include line of ours; empty for any other line.
std::string_view included_path(std::string_view line) {
  constexpr std::string_view kBegin = "#include \"";
  if (!line.starts_with(kBegin)) return {};
  line.remove_prefix(kBegin.size());
  return line.substr(0, line.find('"'));
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

TEST(Tidy, IncludesFollowTheLayers) {
  Findings findings;
  for (const Source& source : sources()) {
    if (!under(source.path, "io") && !under(source.path, "engine")) continue;
    const std::string layer = layer_of(source.folder);
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string_view path = included_path(source.lines[i]);
      if (path.empty()) continue;
      const std::string target = layer_of(folder_of(path));
      if (target == layer || allowed_includes().at(layer).contains(target)) continue;
      findings.add(source, i, fmt::format("{} may not include {}", layer, target));
    }
  }
  findings.expect_none();
}

TEST(Tidy, SystemHeadersStayInTheirFolders) {
  const auto is_socket_header = [](std::string_view line) {
    return std::ranges::any_of(
        std::array{"sys/socket", "netinet/", "arpa/", "netdb", "sys/epoll", "sys/un."},
        [&](std::string_view name) { return line.starts_with(fmt::format("#include <{}", name)); });
  };
  Findings findings;
  for (const Source& source : sources()) {
    if (!under(source.path, "io") && !under(source.path, "engine")) continue;
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string& line = source.lines[i];
      if (line.starts_with("#include <liburing") && source.folder != "io/uring") {
        findings.add(source, i, "liburing belongs in io/uring");
      }
      if (!line.starts_with("#include <")) continue;
      if (is_socket_header(line) && source.folder != "io/uring" && source.folder != "io/posix") {
        findings.add(source, i, "socket headers belong in io/uring and io/posix");
      }
    }
  }
  findings.expect_none();
}

TEST(Tidy, IncludesAreRootedAndHeadersGuarded) {
  Findings findings;
  for (const Source& source : sources()) {
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string_view path = included_path(source.lines[i]);
      if (!path.empty() && path.find('/') == std::string_view::npos) {
        findings.add(source, i, "includes are rooted at the repository's top");
      }
    }
    if (source.path.ends_with(".h") &&
        std::ranges::find(source.lines, "#pragma once") == source.lines.end()) {
      findings.add(source, 0, "a header begins with #pragma once");
    }
  }
  findings.expect_none();
}

// --- lengths ---

TEST(Tidy, FilesAreShort) {
  Findings findings;
  for (const Source& source : sources()) {
    const size_t max = under(source.path, "tests") ? kTestLinesMax : kFileLinesMax;
    if (source.lines.size() > max) {
      findings.add(source, max, fmt::format("{} lines, {} allowed", source.lines.size(), max));
    }
  }
  findings.expect_none();
}

TEST(Tidy, LinesFitTheScreen) {
  Findings findings;
  for (const Source& source : sources()) {
    for (size_t i = 0; i < source.lines.size(); ++i) {
      if (source.lines[i].starts_with("#include")) continue;
      if (const size_t width = columns(source.lines[i]); width > kColumnsMax) {
        findings.add(source, i, fmt::format("{} columns, {} allowed", width, kColumnsMax));
      }
    }
  }
  findings.expect_none();
}

// A function is taken to begin on a line that ends in "{", has a "(" in it or in the lines of its
// parameter list, and is no type, namespace or initialiser; to end on the "}" of the same
// indentation. A describe() is a table and may be as long as what it lists.
TEST(Tidy, FunctionsFitTheScreen) {
  static const std::regex kNoFunction(
      R"(^\s*(namespace|struct|class|enum|union|extern|constexpr|#)|=\s*\{$|describe\()");
  Findings findings;
  for (const Source& source : sources()) {
    const auto& lines = source.lines;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string& line = lines[i];
      if (!line.ends_with("{") || std::regex_search(line, kNoFunction)) continue;
      const size_t indent = line.find_first_not_of(' ');
      if (indent > 2) continue;
      const std::string close = std::string(indent, ' ') + "}";
      size_t end = i + 1;
      while (end < lines.size() && !lines[end].starts_with(close)) ++end;
      if (end == lines.size() || lines[end] != close) continue;  // "};" ends a type
      if (end - i + 1 > kFunctionLinesMax) {
        findings.add(source, i, fmt::format("a function of {} lines, {} allowed", end - i + 1,
                                            kFunctionLinesMax));
      }
    }
  }
  findings.expect_none();
}

// --- calls that the simulator cannot see ---

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the word stands in the code by itself, from `from` on.
size_t find_word(std::string_view code, std::string_view word, size_t from = 0) {
  for (size_t at = code.find(word, from); at != std::string_view::npos;
       at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (at > 0 && is_name_char(code[at - 1])) continue;
    if (end < code.size() && is_name_char(code[end])) continue;
    return at;
  }
  return std::string_view::npos;
}

// A call of the C library: "f(", "::f(", "std::f(", but no member, no other class's f and no
// declaration "Type f(".
bool is_c_call(std::string_view code, size_t at, size_t size) {
  if (at + size >= code.size() || code[at + size] != '(') return false;
  std::string_view before = code.substr(0, at);
  if (before.ends_with("std::")) return true;
  if (before.ends_with("::")) {
    before.remove_suffix(2);
    return before.empty() || !(is_name_char(before.back()) || before.back() == '>');
  }
  if (before.ends_with(".") || before.ends_with("->")) return false;
  if (!before.ends_with(" ")) return true;
  while (before.ends_with(" ")) before.remove_suffix(1);
  return before.empty() || before.ends_with("return") || !(is_name_char(before.back()) ||
                                                           before.back() == '>' ||
                                                           before.back() == '&');
}

// The same, only where written with a leading "::": names that members of ours have too.
bool is_global_call(std::string_view code, size_t at, size_t size) {
  return code.substr(0, at).ends_with("::") && !code.substr(0, at).ends_with("std::") &&
         is_c_call(code, at, size);
}

struct Ban {
  bool (*applies)(std::string_view code, size_t at, size_t size);  // nullptr: the word anywhere
  std::string_view instead;
  std::vector<std::string_view> words;
};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> all = {
      {is_c_call,
       "io/clock.h",
       {"clock_gettime", "gettimeofday", "time", "nanosleep", "usleep", "sleep"}},
      {nullptr, "io/clock.h", {"system_clock", "steady_clock", "high_resolution_clock"}},
      {is_c_call, "io/random.h", {"rand", "srand", "random", "getrandom", "getentropy"}},
      {nullptr, "io/random.h", {"std::random_device", "std::mt19937"}},
      {nullptr,
       "one thread per core and io/mailbox.h",
       {"std::thread", "std::jthread", "std::mutex", "std::shared_mutex",
        "std::condition_variable", "std::async", "std::future", "std::atomic", "thread_local",
        "pthread_create"}},
      {nullptr, "io/op.h", {"std::function"}},
      {is_c_call,
       "io/disk.h",
       {"openat", "pread", "pwrite", "preadv", "pwritev", "fsync", "fdatasync", "ftruncate",
        "fallocate", "mmap", "fopen"}},
      {is_global_call,
       "io/disk.h and io/network.h",
       {"open", "read", "write", "close", "rename", "unlink", "socket", "accept", "connect",
        "send", "recv"}},
      {nullptr, "io/disk.h", {"std::ifstream", "std::ofstream", "std::fstream"}},
      {is_c_call, "settings, or engine/weir.cc", {"getenv", "fork", "system", "exit", "_exit"}},
      {nullptr, "io/base/logging.h", {"std::cout", "std::cerr"}},
      {is_c_call, "io/base/logging.h", {"printf", "fprintf", "puts"}},
  };
  return all;
}

bool is_banned(const Ban& ban, std::string_view code, std::string_view word) {
  for (size_t at = find_word(code, word); at != std::string_view::npos;
       at = find_word(code, word, at + 1)) {
    if (ban.applies == nullptr || ban.applies(code, at, word.size())) return true;
  }
  return false;
}

TEST(Tidy, EngineCallsOnlyTheDoors) {
  Findings findings;
  for (const Source& source : sources()) {
    // weir.cc chooses the back end and takes the signals of the process.
    if (!under(source.path, "engine") || source.path == "engine/weir.cc") continue;
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = code_of(source.lines[i]);
      for (const Ban& ban : bans()) {
        for (const std::string_view word : ban.words) {
          if (!is_banned(ban, code, word)) continue;
          findings.add(source, i, fmt::format("'{}': use {}", word, ban.instead));
        }
      }
    }
  }
  findings.expect_none();
}

TEST(Tidy, BansSeeWhatTheyShould) {
  const auto c_call = [](std::string_view code, std::string_view word) {
    return is_banned({is_c_call, "", {}}, code, word);
  };
  EXPECT_TRUE(c_call("const auto now = time(nullptr);", "time"));
  EXPECT_TRUE(c_call("return std::rand();", "rand"));
  EXPECT_TRUE(c_call("if (::fsync(fd) != 0) {", "fsync"));
  EXPECT_FALSE(c_call("clock.time();", "time"));
  EXPECT_FALSE(c_call("Timestamp time(int x);", "time"));
  EXPECT_FALSE(c_call("Log::random(x);", "random"));
  EXPECT_FALSE(c_call("max_time(x);", "time"));
}

TEST(Tidy, NobodyThrowsInTheEngine) {
  Findings findings;
  for (const Source& source : sources()) {
    if (!under(source.path, "io") && !under(source.path, "engine")) continue;
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = code_of(source.lines[i]);
      for (const char* word : {"throw", "try", "catch"}) {
        if (find_word(code, word) == std::string::npos) continue;
        findings.add(source, i, "built with -fno-exceptions: return an error value");
      }
    }
  }
  findings.expect_none();
}

// --- leftovers ---

TEST(Tidy, NothingIsLeftBehind) {
  // Put together from halves, so that this file does not find itself.
  const std::array notes = {std::string("TO") + "DO", std::string("FIX") + "ME",
                            std::string("XX") + "X", std::string("HA") + "CK"};
  const std::array paths = {std::string("/wo") + "rk/", std::string("/ho") + "me/",
                            std::string("/ro") + "ot/"};
  Findings findings;
  for (const Source& source : sources()) {
    for (size_t i = 0; i < source.lines.size(); ++i) {
      const std::string& line = source.lines[i];
      for (const std::string& note : notes) {
        if (find_word(line, note) != std::string::npos) findings.add(source, i, "a leftover note");
      }
      for (const std::string& path : paths) {
        const size_t at = line.find(path);
        if (at == std::string::npos || (at > 0 && is_name_char(line[at - 1]))) continue;
        findings.add(source, i, "a path of one machine");
      }
    }
  }
  findings.expect_none();
}

TEST(Tidy, ScriptsAreStrict) {
  const fs::path root(WEIR_SOURCE_DIR);
  std::vector<fs::path> scripts = {root / ".ci/run"};
  for (const auto& entry : fs::directory_iterator(root / "tools")) {
    if (entry.is_regular_file() && entry.path().extension().empty()) scripts.push_back(entry);
  }
  for (const char* folder : {"tests/crash", "tests/compat"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (entry.path().extension() == ".sh") scripts.push_back(entry);
    }
  }
  for (const fs::path& script : scripts) {
    const auto lines = read_lines(script);
    ASSERT_FALSE(lines.empty()) << script;
    EXPECT_EQ(lines[0], "#!/bin/bash") << script;
    EXPECT_NE(std::ranges::find(lines, "set -euo pipefail"), lines.end()) << script;
  }
}

TEST(Tidy, EveryFolderIsExplained) {
  const fs::path root(WEIR_SOURCE_DIR);
  std::set<std::string> folders = {"tests", "tools", "bench", "perf"};
  for (const Source& source : sources()) {
    if (under(source.path, "io")) folders.insert("io");
    if (under(source.path, "engine")) folders.insert(layer_of(source.folder));
  }
  for (const std::string& folder : folders) {
    EXPECT_TRUE(fs::exists(root / folder / "README.md")) << folder << " has no README.md";
  }
}

// --- what the documents say exists

// Tests as docs/TESTING.md names them: `Suite.name`.
TEST(Tidy, TestsNamedInTheDocumentsExist) {
  std::set<std::string> known;
  const std::regex definition(R"(TEST(_F|_P)?\((\w+), (\w+)\))");
  for (const Source& source : sources()) {
    if (!under(source.path, "tests")) continue;
    for (const std::string& line : source.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, definition)) continue;
      known.insert(match.str(2) + "." + match.str(3));
    }
  }
  const std::regex name(R"(`([A-Z]\w+\.\w+)`)");
  size_t named = 0;
  for (const std::string& line : read_lines(fs::path(WEIR_SOURCE_DIR) / "docs/TESTING.md")) {
    for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) {
      EXPECT_TRUE(known.contains(at->str(1))) << at->str(1) << " is no test";
      ++named;
    }
  }
  EXPECT_GT(named, 50u);
}

}  // namespace
