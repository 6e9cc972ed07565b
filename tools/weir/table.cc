#include "tools/weir/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/base/assert.h"

namespace weir::tools {

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Table::Table(std::vector<std::string> columns) {
  for (std::string& name : columns) {
    const bool right = name.starts_with('>');
    if (right) name.erase(0, 1);
    const size_t width = width_of(name);
    columns_.push_back({.name = std::move(name), .right = right, .width = width});
  }
}

void Table::add(std::vector<std::string> cells) {
  ASSERT(cells.size() == columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    columns_[i].width = std::max(columns_[i].width, width_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::string Table::line_of(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(columns_[i].width - width_of(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string Table::to_string() const {
  std::vector<std::string> heading;
  for (const Column& column : columns_) heading.push_back(column.name);
  std::string text = line_of(heading);
  for (const auto& row : rows_) text += line_of(row);
  return text;
}

void Table::print() const { fmt::print("{}", to_string()); }

}  // namespace weir::tools
