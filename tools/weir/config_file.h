#pragma once
// The configuration file: TOML, with the names of the settings as keys, flat or nested:
//
//   listeners = ["127.0.0.1:9092", "[::1]:9092"]
//   log.retention.hours = 72
//   [log.segment]
//   bytes = 268435456
//
// Every fault names file and line: what is no TOML, an unknown setting, a value of another type or
// out
// of range, a setting given twice. Nothing is guessed.

#include <string>
#include <string_view>

#include "engine/broker/config.h"
#include "io/base/result.h"

namespace weir::tools {

// Sets what the file says, except what `config` was given before: the command line goes first. Such
// lines are checked all the same. Does not call config.finish().
base::Status load_config_file(const std::string& path, broker::Config& config);
base::Status load_config_text(std::string_view text, const std::string& path,
                              broker::Config& config);

}  // namespace weir::tools
