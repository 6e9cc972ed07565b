#pragma once
// Sockets as both real back ends open them: addresses in text, listeners shared by the cores of a
// process.

#include <mutex>
#include <vector>

#include "io/network.h"
#include "io/platform_options.h"

struct sockaddr;

namespace weir::io::posix {

Address to_address(const sockaddr& raw);
Address local_address_of(int descriptor);
Address peer_address_of(int descriptor);

// Which addresses this process listens on. Called by any core, at start and stop only, hence the
// lock.
//
// All cores listen on one address through SO_REUSEPORT, but with that option alone a second process
// of the same user could take the port silently. So the first listener binds without it, which
// fails when anyone else listens there, and turns it on afterwards, which lets our other cores
// follow.
class ListenSockets {
 public:
  struct Opened {
    int descriptor;
    Address address;  // with the port that was given
  };
  // A listening socket whose connections have TCP_NODELAY; at most one per core and address.
  base::Result<Opened> open(CoreIndex core, const Address& address, bool non_blocking);
  void close(CoreIndex core, const Opened& socket);

 private:
  struct Entry {
    CoreIndex core;
    Address address;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace weir::io::posix
