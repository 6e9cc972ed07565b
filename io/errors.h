#pragma once
// io::Error: which operation of the machine failed, and the errno it gave. For logs and for people;
// code that reacts looks at the errno of a completion.

#include <cstdint>
#include <string>
#include <string_view>

#include "io/base/result.h"

namespace weir::io {

enum class Operation : uint8_t {
  open,
  close,
  read,
  write,
  sync,
  allocate,
  truncate,
  rename,
  remove,
  make_directory,
  sync_directory,
  list,
  info,
  free_bytes,
  total_bytes,
  lock,
  listen,
  accept,
  receive,
  send,
};

struct Error {
  Operation operation{};
  int code = 0;  // errno, positive
};

std::string_view name(Operation operation);

// "ENOSPC", or "errno 4095" for a number without a name.
std::string errno_name(int code);

// "write /data/journal-0: ENOSPC (No space left on device)"; `subject` may be empty.
std::string describe(Error error, std::string_view subject);

// The same as a base::Error. The result of a completion may be given as it is: -ENOSPC.
std::unexpected<base::Error> failed(Operation operation, int code, std::string_view subject);

}  // namespace weir::io
