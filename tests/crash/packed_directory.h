#pragma once
// A data directory as text that people can read and compare: names, sizes, and the bytes that are
// not zero, 32 a line. Files that were allocated ahead of their content cost nothing.

#include <string>

namespace weir::crashtest {

// Without the lock, which belongs to a process.
std::string pack_directory(const std::string& directory);
// Throws where the text makes no sense.
void unpack_directory(const std::string& text, const std::string& directory);

}  // namespace weir::crashtest
