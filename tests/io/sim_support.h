#pragma once
// What the simulator's tests share: one operation at a time over a simulated core, written straight
// down.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/sim/sim_world.h"

namespace weir::io::sim {

class Waiter {
 public:
  Waiter() { op.bind<&Waiter::on_done>(*this); }
  void on_done(Op& done) {
    ran = true;
    result = done.result();
  }
  Op op;
  bool ran = false;
  int32_t result = 0;
};

// Runs call(op) and waits for it.
template <class Function>
int32_t wait(SimWorld& world, Function call) {
  Waiter waiter;
  call(waiter.op);
  world.core(0).loop.run_until(waiter.op);
  return waiter.result;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline FileId open_file(SimWorld& world, const char* path, OpenOptions options = {.create = true}) {
  const int32_t result =
      wait(world, [&](Op& op) { world.core(0).disk.open(op, path, options); });
  return FileId(result);
}

inline int32_t write_file(SimWorld& world, FileId file, std::string_view text, uint64_t position,
                          Durability durability = Durability::none) {
  const Slice slice{bytes_of(text).data(), text.size()};
  return wait(world, [&](Op& op) {
    world.core(0).disk.write(op, file, std::span(&slice, 1), position, durability);
  });
}

inline std::string read_file(SimWorld& world, FileId file, uint64_t position, size_t size) {
  std::vector<std::byte> into(size);
  const int32_t result =
      wait(world, [&](Op& op) { world.core(0).disk.read(op, file, into, position); });
  if (result < 0) return "error " + std::to_string(result);
  return text_of(std::span(into).first(static_cast<size_t>(result)));
}

inline int32_t sync_file(SimWorld& world, FileId file) {
  return wait(world, [&](Op& op) { world.core(0).disk.sync(op, file); });
}

inline int32_t sync_directory(SimWorld& world, const char* path) {
  return wait(world, [&](Op& op) { world.core(0).disk.sync_directory(op, path); });
}

// A block whose bytes all are `fill`, where a direct transfer may take it from.
struct alignas(kBlockSize) Block {
  std::array<std::byte, kBlockSize> data;
  explicit Block(char fill) { data.fill(static_cast<std::byte>(fill)); }
  Slice slice() const { return {data.data(), data.size()}; }
};

}  // namespace weir::io::sim
