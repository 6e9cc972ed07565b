#pragma once
// What the block device below a file says of its write cache.

#include <string>

namespace weir::io::posix {

// A durable write is one command: the device has no volatile write cache, or takes writes with the
// "force unit access" bit. False: it needs a flush after the write, which the kernel sends from a
// worker of the CPU that took the interrupt. True also when the device cannot be told (btrfs,
// overlayfs, NFS) or says nothing.
bool writes_durably_at_once(const std::string& path);

}  // namespace weir::io::posix
