#include "engine/wire/printer.h"

#include <fmt/format.h>

#include <iterator>

namespace weir::wire {

void Printer::append_name(const MessageInfo& info) {
  fmt::format_to(std::back_inserter(out_), "{}{}v{}", info.name, info.suffix(), version_);
}

void Printer::append_field(std::string_view name) {
  if (!first_) out_ += ", ";
  first_ = false;
  out_ += name;
  out_ += '=';
}

void Printer::append_integer(int64_t value) {
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void Printer::append_double(double value) {
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

// One line of printable ASCII and UTF-8, whatever a client put into a name.
void Printer::append_string(std::string_view text) {
  out_ += '"';
  for (const char character : text.substr(0, kPrintedStringSizeMax)) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') out_ += '\\';
    if (code < 0x20 || code == 0x7f) {
      fmt::format_to(std::back_inserter(out_), "\\x{:02x}", code);
    } else {
      out_ += character;
    }
  }
  out_ += '"';
  if (text.size() > kPrintedStringSizeMax) {
    fmt::format_to(std::back_inserter(out_), "+{}B", text.size() - kPrintedStringSizeMax);
  }
}

void Printer::append_size(size_t size) {
  fmt::format_to(std::back_inserter(out_), "{}B", size);
}

void Printer::append_more(size_t count) {
  fmt::format_to(std::back_inserter(out_), ", +{}", count);
}

void Printer::append_null() { out_ += "null"; }

}  // namespace weir::wire
