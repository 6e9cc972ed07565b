#pragma once
// Where the reference material lies: the kafka-protocol directory itself or the one above it, from
// WEIR_SHARED_DIR in the environment, WEIR_SHARED_DIR at compile time, or beside the source tree.

#include <cstdlib>
#include <filesystem>

namespace weir::wire::testing {

inline std::filesystem::path source_dir() {
#ifdef WEIR_SOURCE_DIR
  return WEIR_SOURCE_DIR;
#else
  return std::filesystem::path(__FILE__).parent_path() / "../../..";
#endif
}

inline std::filesystem::path shared_dir() {
  std::filesystem::path dir = source_dir() / "../shared";
#ifdef WEIR_SHARED_DIR
  dir = WEIR_SHARED_DIR;
#endif
  if (const char* const set = std::getenv("WEIR_SHARED_DIR")) dir = set;
  return std::filesystem::exists(dir / "kafka-protocol") ? dir / "kafka-protocol" : dir;
}

}  // namespace weir::wire::testing
