#pragma once
// Counters of connections: plain members of one core, merged when scraped.

#include <cstdint>

namespace weir::connection {

struct Metrics {
  uint64_t opened = 0;
  uint64_t closed = 0;
  uint64_t refused = 0;
  uint64_t bytes_received = 0;
  uint64_t bytes_sent = 0;
  uint64_t requests = 0;
  uint64_t frames_refused = 0;
  uint64_t timeouts = 0;
  uint64_t memory_waits = 0;
  uint64_t accept_errors = 0;
  uint64_t throttles = 0;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_connections_opened_total", "connections accepted", m.opened);
    metric("weir_connections_closed_total", "connections ended, for any reason", m.closed);
    metric("weir_connections_refused_total", "connections over a limit, closed at once", m.refused);
    metric("weir_network_received_bytes_total", "bytes received from clients", m.bytes_received);
    metric("weir_network_sent_bytes_total", "bytes sent to clients", m.bytes_sent);
    metric("weir_network_requests_total", "whole requests received", m.requests);
    metric("weir_network_frames_refused_total",
           "frames that ended their connection: wrong length, malformed, unknown API or version",
           m.frames_refused);
    metric("weir_connections_timeouts_total",
           "connections closed: idle, sending too slowly or not reading", m.timeouts);
    metric("weir_network_memory_waits_total", "times a connection waited for request memory",
           m.memory_waits);
    metric("weir_network_accept_errors_total", "accept calls that failed", m.accept_errors);
    metric("weir_connections_throttles_total",
           "times a client had to wait because it had used its quota", m.throttles);
  }
};

}  // namespace weir::connection
