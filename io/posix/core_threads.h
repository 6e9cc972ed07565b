#pragma once
// The threads of a platform's cores: start together, serve, end together.

#include "io/base/result.h"
#include "io/platform_options.h"

namespace weir::io::posix {

// What happens on each core's thread. Between two steps all cores wait for each other, so in
// serve() every core of the platform is prepared, and in dismantle() none serves any more.
class CoreBody {
 public:
  virtual ~CoreBody() = default;
  virtual base::Status prepare(CoreIndex core) = 0;  // one failure: no core serves
  virtual void serve(CoreIndex core) = 0;
  virtual void dismantle(CoreIndex core) = 0;  // also after a failed prepare()
};

// Core 0 runs on the caller's thread, whose CPU mask is restored. Signals reach the caller's thread
// only.
base::Status run_cores(const PlatformOptions& options, CoreBody& body);

}  // namespace weir::io::posix
