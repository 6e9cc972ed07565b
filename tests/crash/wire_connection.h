#pragma once
// WireConnection: one connection to a broker that speaks bytes of the protocol, for what client
// libraries don't do: 10,000 of them, requests of any size, answers looked at one by one.

#include <cstdint>
#include <optional>
#include <string>

#include "tests/sim/kafka_requests.h"

namespace weir::crashtest {

class WireConnection {
 public:
  // To 127.0.0.1; throws std::runtime_error when there is no connection to be had.
  explicit WireConnection(uint16_t port);
  ~WireConnection() { close(); }
  WireConnection(WireConnection&& other) noexcept;
  WireConnection(const WireConnection&) = delete;

  // False: the broker has gone away, or takes nothing for a minute.
  bool send(simtest::Api api, int version, simtest::ByteSpan body);
  // The body of the next answer; nothing when the broker closed the connection, or a minute passed.
  std::optional<simtest::ByteString> receive();
  std::optional<simtest::ByteString> ask(simtest::Api api, int version, simtest::ByteSpan body) {
    return send(api, version, body) ? receive() : std::nullopt;
  }

  void close();
  // Closes by a reset: the broker gets an error, not an end.
  void reset();

 private:
  bool receive_whole(std::byte* into, size_t size);

  int socket_ = -1;
};

// A batch of one record that has nothing but this value.
simtest::ByteString batch_of(const std::string& value);

// Creates a topic; empty, or what the broker said.
std::string create_topic(WireConnection& connection, const std::string& name, int32_t partitions);
// Deletes one; the same.
std::string delete_topic(WireConnection& connection, const std::string& name);

}  // namespace weir::crashtest
