#include "tests/crash/packed_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/crash/command.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRow = 32;

void pack_bytes(const std::string& bytes, std::string& text) {
  for (size_t at = 0; at < bytes.size(); at += kRow) {
    const std::string_view row = std::string_view(bytes).substr(at, kRow);
    if (std::ranges::all_of(row, [](char c) { return c == 0; })) continue;
    text += fmt::format("{:x} ", at);
    for (const char c : row) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    text += '\n';
  }
}

void unpack_row(const std::string& digits, const std::string& hex, std::fstream& file) {
  std::string row;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    row += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  file.seekp(static_cast<std::streamoff>(std::stoull(digits, nullptr, 16)));
  file << row;
}

}  // namespace

std::string pack_directory(const std::string& directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() != "lock") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::string text;
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(directory).string();
    if (fs::is_directory(path)) {
      text += fmt::format("directory {}\n", name);
      continue;
    }
    const std::string bytes = read_whole(path.string());
    text += fmt::format("file {} {}\n", name, bytes.size());
    pack_bytes(bytes, text);
  }
  return text;
}

void unpack_directory(const std::string& text, const std::string& directory) {
  fs::create_directories(directory);
  std::istringstream lines(text);
  std::fstream file;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string rest;
    words >> kind >> rest;
    const std::string path = directory + "/" + rest;
    if (kind == "directory") {
      fs::create_directory(path);
    } else if (kind == "file") {
      uint64_t size = 0;
      words >> size;
      file.close();
      write_whole(path, "");
      fs::resize_file(path, size);
      file.open(path, std::ios::binary | std::ios::in | std::ios::out);
    } else if (file.is_open() && !kind.starts_with('#')) {
      unpack_row(kind, rest, file);
    } else if (!kind.starts_with('#')) {
      throw std::runtime_error("no packed directory: " + line);
    }
    if (file.fail()) throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace weir::crashtest
