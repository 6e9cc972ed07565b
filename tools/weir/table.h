#pragma once
// Table: rows of texts under a heading, columns as wide as they must be. Numbers stand at the
// right.

#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

class Table {
 public:
  // A name that begins with '>' is a column of numbers.
  explicit Table(std::vector<std::string> columns);

  // As many cells as there are columns.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // With the heading; to standard output.
  void print() const;
  [[nodiscard]] std::string to_string() const;

 private:
  struct Column {
    std::string name;
    bool right = false;
    size_t width = 0;
  };
  std::string line_of(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Code points, not bytes: how wide a text is on a terminal.
size_t width_of(std::string_view text);

}  // namespace weir::tools
