#include "io/posix/block_device.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <optional>

namespace weir::io::posix {

namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// A partition has the queue of its disk.
std::optional<std::string> queue_attribute(dev_t device, const char* name) {
  const std::string directory = fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
  auto own = first_line(fmt::format("{}/queue/{}", directory, name));
  return own ? own : first_line(fmt::format("{}/../queue/{}", directory, name));
}

}  // namespace

bool writes_durably_at_once(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return true;
  const auto cache = queue_attribute(status.st_dev, "write_cache");
  return cache != "write back" || queue_attribute(status.st_dev, "fua") != "0";
}

}  // namespace weir::io::posix
