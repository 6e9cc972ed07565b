#pragma once
// Mailboxes: typed messages between cores. One bounded single-producer/single-consumer ring per
// ordered pair of cores; nothing is dropped: what does not fit waits in order at the sender.
//
// A message is memory of its sender. While it is away the sender touches nothing in it; the
// receiver works on it and sends the same object back with reply(), so memory returns to the core
// that allocated it and no count is shared. A message to the own core goes through the ready queue:
// never a call inside a call.

#include <array>
#include <cstdint>

#include "io/base/assert.h"
#include "io/base/strong_int.h"

namespace weir::io {

using CoreIndex = base::StrongInt<struct CoreIndexTag, uint16_t>;
inline constexpr size_t kCoresMax = 256;

// Which part of the receiving core a message is for; the numbers are given out in
// engine/model/ports.h.
using Port = base::StrongInt<struct PortTag, uint8_t>;
inline constexpr size_t kPortsMax = 32;

class Message {
 public:
  Message() = default;
  ~Message() { ASSERT(!away_, "destroyed while another core has it"); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  // What runs on the sending core when the message comes back.
  template <auto Method, class Owner>
  void bind_reply(Owner& owner) {
    owner_ = &owner;
    on_reply_ = [](void* o, Message& m) { (static_cast<Owner*>(o)->*Method)(m); };
  }
  bool away() const { return away_; }
  CoreIndex origin() const { return origin_; }

 private:
  friend class Mailboxes;
  Message* next_ = nullptr;
  void* owner_ = nullptr;
  void (*on_reply_)(void*, Message&) = nullptr;
  CoreIndex origin_{};
  Port port_{};
  bool away_ = false;      // between send and the run of on_reply
  bool returning_ = false;
};

// One core's end of all its rings. Base class: the bookkeeping; transport() is the back end's.
class Mailboxes {
 public:
  explicit Mailboxes(CoreIndex self) : self_(self) {}
  virtual ~Mailboxes() = default;

  CoreIndex self() const { return self_; }

  // Receiver side: messages for `port` run (owner.*Method)(message).
  template <auto Method, class Owner>
  void listen(Port port, Owner& owner) {
    receivers_[port.value()] = {
        &owner, [](void* o, Message& m) { (static_cast<Owner*>(o)->*Method)(m); }};
  }

  void send(CoreIndex to, Port port, Message& message) {
    ASSERT(!message.away_ && message.on_reply_ != nullptr);
    message.origin_ = self_;
    message.port_ = port;
    message.away_ = true;
    message.returning_ = false;
    transport(to, message);
  }
  void reply(Message& message) {
    ASSERT(message.away_ && !message.returning_);
    message.returning_ = true;
    transport(message.origin_, message);
  }

 protected:
  // Carries the message to core `to` (maybe the own one) in order; deliver() runs there, from its
  // loop.
  virtual void transport(CoreIndex to, Message& message) = 0;

  void deliver(Message& message) {
    if (message.returning_) {
      message.away_ = false;
      message.on_reply_(message.owner_, message);
      return;
    }
    const Receiver& receiver = receivers_[message.port_.value()];
    ASSERT(receiver.function != nullptr, "nobody listens on port {}", message.port_.value());
    receiver.function(receiver.owner, message);
  }
  // The simulator's crash: the message never arrives and its owner is about to be destroyed.
  static void abandon(Message& message) { message.away_ = false; }
  static Message*& next_of(Message& message) { return message.next_; }

 private:
  struct Receiver {
    void* owner = nullptr;
    void (*function)(void*, Message&) = nullptr;
  };
  CoreIndex self_;
  std::array<Receiver, kPortsMax> receivers_{};
};

}  // namespace weir::io
