#include "bench/load/rdkafka_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace weir::load {

base::Result<RdkafkaLibrary> RdkafkaLibrary::load() {
  constexpr const char* kName = "librdkafka.so.1";
  void* const handle = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return base::error(0, fmt::format("--client librdkafka needs {} (Debian: librdkafka1): {}",
                                      kName, ::dlerror()));
  }
  RdkafkaLibrary library;
  const char* missing = nullptr;
  const auto find = [&](const char* name) {
    void* const symbol = ::dlsym(handle, name);
    if (symbol == nullptr) missing = name;
    return symbol;
  };
#define WEIR_RDKAFKA_FIND(member, function) \
  library.member = reinterpret_cast<decltype(library.member)>(find("rd_kafka_" #function));
  WEIR_RDKAFKA_FUNCTIONS(WEIR_RDKAFKA_FIND)
#undef WEIR_RDKAFKA_FIND
  if (missing != nullptr) return base::error(0, fmt::format("{} has no {}", kName, missing));
  return library;
}

}  // namespace weir::load
