#pragma once
// Result<T>: a value or the reason there is none. No exceptions cross io or engine (STYLE 2.4).
// TRY(expression) returns the error to the caller, else yields the value.

#include <expected>
#include <string>
#include <utility>

namespace weir::base {

// Why an operation on the machine failed, for the log line and the operator.
//   code    errno value (positive), or 0 where no system call was involved
//   detail  what was being done to what, and the remedy where there is one
struct Error {
  int code = 0;
  std::string detail;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> error(int code, std::string detail) {
  return std::unexpected<Error>(Error{code, std::move(detail)});
}

}  // namespace weir::base

#define WEIR_TRY_JOIN2(a, b) a##b
#define WEIR_TRY_JOIN(a, b) WEIR_TRY_JOIN2(a, b)

// TRY(auto x, expression): declares x as the value, or returns the error.
#define TRY(declaration, expression)                                              \
  auto WEIR_TRY_JOIN(try_result_, __LINE__) = (expression);                       \
  if (!WEIR_TRY_JOIN(try_result_, __LINE__))                                      \
    return std::unexpected(std::move(WEIR_TRY_JOIN(try_result_, __LINE__)).error()); \
  declaration = *std::move(WEIR_TRY_JOIN(try_result_, __LINE__))

// CHECK_OK(expression): returns the error of a Status.
#define CHECK_OK(expression)                                                \
  do {                                                                      \
    if (auto status = (expression); !status)                                \
      return std::unexpected(std::move(status).error());                    \
  } while (false)
