#pragma once
// Waiter: what straight-line code waits for with Loop::run_until(), before serving and in tools: an
// operation, or a whole transfer, whose completion nobody has to be told of. A transfer arms its op
// again after a short count: run until it is armed no more. Pinned while one of them is armed.

#include "io/op.h"
#include "io/whole_transfer.h"

namespace weir::io {

class Waiter {
 public:
  Waiter() {
    op.bind<&Waiter::on_op>(*this);
    read.bind<&Waiter::on_read>(*this);
    write.bind<&Waiter::on_write>(*this);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Op op;
  WholeRead read;
  WholeWrite write;

 private:
  void on_op(Op&) {}
  void on_read(WholeRead&) {}
  void on_write(WholeWrite&) {}
};

}  // namespace weir::io
