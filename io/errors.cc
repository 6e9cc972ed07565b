#include "io/errors.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "io/base/assert.h"

namespace weir::io {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::open: return "open";
    case Operation::close: return "close";
    case Operation::read: return "read";
    case Operation::write: return "write";
    case Operation::sync: return "sync";
    case Operation::allocate: return "allocate";
    case Operation::truncate: return "truncate";
    case Operation::rename: return "rename";
    case Operation::remove: return "remove";
    case Operation::make_directory: return "make directory";
    case Operation::sync_directory: return "sync directory";
    case Operation::list: return "list";
    case Operation::info: return "look up";
    case Operation::free_bytes: return "free space of";
    case Operation::total_bytes: return "size of the file system of";
    case Operation::lock: return "lock";
    case Operation::listen: return "listen on";
    case Operation::accept: return "accept";
    case Operation::receive: return "receive";
    case Operation::send: return "send";
  }
  UNREACHABLE("operation {}", static_cast<int>(operation));
}

std::string errno_name(int code) {
  const char* const text = strerrorname_np(code);
  return text != nullptr ? std::string(text) : fmt::format("errno {}", code);
}

namespace {

// What a person can do about it; empty where that depends on the caller.
std::string_view remedy(Error error) {
  if (error.operation != Operation::listen) return "";
  switch (error.code) {
    case EADDRINUSE: return "; stop the program that listens there, or name another port";
    case EADDRNOTAVAIL: return "; this machine has no such address";
    case EACCES: return "; ports below 1024 need root";
    default: return "";
  }
}

}  // namespace

std::string describe(Error error, std::string_view subject) {
  const char* const sentence = strerrordesc_np(error.code);
  return fmt::format("{}{}{}: {} ({}){}", name(error.operation), subject.empty() ? "" : " ",
                     subject, errno_name(error.code),
                     sentence != nullptr ? sentence : "unknown error", remedy(error));
}

std::unexpected<base::Error> failed(Operation operation, int code, std::string_view subject) {
  const int positive = std::abs(code);
  return base::error(positive, describe({operation, positive}, subject));
}

}  // namespace weir::io
