#include "io/sim/sim_network.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/base/crc32c.h"
#include "io/sim/sim_client.h"
#include "io/sim/sim_loop.h"

namespace weir::io::sim {

NetworkMedia::NetworkMedia(uint64_t seed, Scheduler& scheduler, Faults& faults,
                           size_t buffer_bytes)
    : scheduler_(scheduler), faults_(faults), random_(seed, "network"),
      buffer_bytes_(buffer_bytes) {}

void NetworkMedia::schedule(Kind kind, int32_t connection, int64_t delay_ns) {
  scheduler_.after(delay_ns, *this, static_cast<uint32_t>(kind),
                   static_cast<uint64_t>(connection));
}

void NetworkMedia::schedule_delivery(SimConnection& connection, Kind direction) {
  SimStream& stream =
      direction == Kind::to_server ? connection.to_server : connection.to_client;
  if (stream.moving || connection.reset) return;
  if (stream.flying.empty() && (!stream.end_sent || stream.end_arrived)) return;
  if (stream.arrived.size() >= buffer_bytes_) return;  // goes on when the receiver takes some
  stream.moving = true;
  int64_t delay = draw_latency(random_, faults_.network_delay_ns);
  if (random_.chance(faults_.network_stall)) {
    delay = draw_latency(random_, faults_.network_stall_ns);
  }
  schedule(direction, connection.id, delay);
}

size_t NetworkMedia::draw_size(size_t most) {
  if (most > 1 && random_.chance(faults_.short_transfer)) {
    return static_cast<size_t>(random_.between(1, most));
  }
  return most;
}

SimConnection* NetworkMedia::find(int32_t connection) {
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : found->second.get();
}

void NetworkMedia::close_if_done(SimConnection& connection) {
  if (connection.client != nullptr || connection.server != nullptr) return;
  if (connection.server_closed || connection.reset) connections_.erase(connection.id);
}

void NetworkMedia::finish(Op*& op, SimNetwork& server, int32_t result) {
  server.loop_.complete(*std::exchange(op, nullptr), result);
}

uint32_t NetworkMedia::checksum(std::span<const Slice> pieces) {
  uint32_t sum = 0;
  for (const Slice& piece : pieces) sum = base::crc32c(std::span(piece.data, piece.size), sum);
  return sum;
}

void NetworkMedia::on_event(uint32_t kind, uint64_t argument) {
  SimConnection* connection = find(static_cast<int32_t>(argument));
  if (connection == nullptr) return;
  switch (static_cast<Kind>(kind)) {
    case Kind::arrive: return on_arrive(*connection);
    case Kind::to_server: return on_to_server(*connection);
    case Kind::to_client: return on_to_client(*connection);
    case Kind::receive: return on_receive(*connection);
    case Kind::send: return on_send(*connection);
    case Kind::output: return on_output(*connection);
    case Kind::hang_up: return hang_up(*connection);
  }
}

// The handshake: the connection waits in the backlog of one of the cores that listen on the port.
void NetworkMedia::on_arrive(SimConnection& connection) {
  std::vector<int32_t> candidates;
  for (const auto& [id, listener] : listeners_) {
    if (listener.address.port == connection.local.port) candidates.push_back(id);
  }
  // A connection that set out to a process that has died since meets nobody, even if another one
  // listens.
  if (candidates.empty() || connection.client == nullptr || connection.server_closed) {
    connection.reset = true;
    return hang_up(connection);
  }
  const int32_t chosen = candidates[random_.below(candidates.size())];
  if (listeners_[chosen].backlog.size() >= kBacklogMax) {
    connection.reset = true;
    return hang_up(connection);
  }
  listeners_[chosen].backlog.push_back(connection.id);
  SimClient& client = *connection.client;
  client.state_ = SimClient::State::connected;
  const int32_t id = connection.id;
  client.handler_.on_connected();
  try_accept(chosen);
  if (SimConnection* still = find(id)) on_output(*still);
}

void NetworkMedia::try_accept(int32_t listener_id) {
  Listener& listener = listeners_[listener_id];
  const auto gone = [this](int32_t id) {
    const SimConnection* connection = find(id);
    return connection == nullptr || connection->server_closed || connection->reset;
  };
  std::erase_if(listener.backlog, gone);
  if (listener.accept_op == nullptr || listener.backlog.empty()) return;
  if (random_.chance(faults_.accept_error)) {
    return finish(listener.accept_op, *listener.owner,
                  random_.chance(0.5) ? -EMFILE : -ECONNABORTED);
  }
  SimConnection& connection = *find(listener.backlog.front());
  listener.backlog.erase(listener.backlog.begin());
  connection.server = listener.owner;
  finish(listener.accept_op, *listener.owner, connection.id);
}

void NetworkMedia::deliver_piece(SimStream& stream) {
  stream.moving = false;
  const size_t room = buffer_bytes_ - std::min(buffer_bytes_, stream.arrived.size());
  const size_t size = draw_size(std::min(room, stream.flying.size()));
  stream.arrived.push(stream.flying.view().first(size));
  stream.flying.drop(size);
  if (stream.flying.empty() && stream.end_sent) stream.end_arrived = true;
}

void NetworkMedia::on_to_server(SimConnection& connection) {
  if (connection.reset) return;
  if (random_.chance(faults_.reset)) return reset(connection);
  deliver_piece(connection.to_server);
  if (connection.server_closed) connection.to_server.arrived.clear();
  if (connection.receive_op != nullptr) on_receive(connection);
  schedule_delivery(connection, Kind::to_server);
  on_output(connection);
}

void NetworkMedia::on_to_client(SimConnection& connection) {
  if (connection.reset) return;
  if (random_.chance(faults_.reset)) return reset(connection);
  deliver_piece(connection.to_client);
  if (connection.send_op != nullptr) schedule(Kind::send, connection.id, 1'000);
  SimStream& stream = connection.to_client;
  if (connection.client == nullptr) {
    stream.arrived.clear();
  } else if (connection.client->reading_) {
    SimClient& client = *connection.client;
    const bool ended = stream.end_arrived;
    const bool data = !stream.arrived.empty();
    const auto bytes = stream.arrived.view();
    scheduler_.trace("read by client", static_cast<uint64_t>(connection.id), bytes.size(),
                     base::crc32c(bytes));
    client.received_.push(bytes);
    stream.arrived.clear();
    const int32_t id = connection.id;
    if (data) client.handler_.on_data();
    SimConnection* still = find(id);  // the handler may have closed it
    if (still == nullptr) return;
    if (ended) return hang_up(*still);
  }
  schedule_delivery(connection, Kind::to_client);
}

void NetworkMedia::on_receive(SimConnection& connection) {
  SimStream& stream = connection.to_server;
  if (connection.receive_op == nullptr) return;
  if (connection.reset) return finish(connection.receive_op, *connection.server, -ECONNRESET);
  if (stream.arrived.empty()) {
    if (stream.end_arrived) finish(connection.receive_op, *connection.server, 0);
    return;
  }
  const bool copies = connection.receive_view == nullptr;
  const size_t most = copies ? std::min(stream.arrived.size(), connection.receive_into.size())
                             : stream.arrived.size();
  const size_t size = draw_size(most);
  const auto bytes = stream.arrived.view().first(size);
  scheduler_.trace("received", static_cast<uint64_t>(connection.id), size, base::crc32c(bytes));
  if (copies) {
    std::ranges::copy(bytes, connection.receive_into.begin());
  } else {
    connection.view.assign(bytes.begin(), bytes.end());
    connection.receive_view->data = connection.view;
    connection.server->shown_.push_back(connection.id);
  }
  stream.arrived.drop(size);
  finish(connection.receive_op, *connection.server, static_cast<int32_t>(size));
  schedule_delivery(connection, Kind::to_server);
}

void NetworkMedia::on_send(SimConnection& connection) {
  if (connection.send_op == nullptr) return;
  ASSERT(connection.send_sum == checksum(connection.send_pieces),
         "buffer changed while in flight");
  if (connection.reset) return finish(connection.send_op, *connection.server, -ECONNRESET);
  if (connection.client == nullptr) return finish(connection.send_op, *connection.server, -EPIPE);
  ByteFifo& flying = connection.to_client.flying;
  size_t total = 0;
  for (const Slice& piece : connection.send_pieces) total += piece.size;
  const size_t room = buffer_bytes_ - std::min(buffer_bytes_, flying.size());
  if (room == 0) return schedule_delivery(connection, Kind::to_client);
  const size_t size = draw_size(std::min(room, total));
  size_t left = size;
  for (const Slice& piece : connection.send_pieces) {
    const size_t part = std::min(left, piece.size);
    flying.push({piece.data, part});
    left -= part;
  }
  scheduler_.trace("sent", static_cast<uint64_t>(connection.id), size, connection.send_sum);
  finish(connection.send_op, *connection.server, static_cast<int32_t>(size));
  schedule_delivery(connection, Kind::to_client);
}

// Moves what the client queued into the stream, as far as it has room.
void NetworkMedia::on_output(SimConnection& connection) {
  SimClient* client = connection.client;
  if (client == nullptr || connection.reset) return;
  SimStream& stream = connection.to_server;
  const size_t room = buffer_bytes_ - std::min(buffer_bytes_, stream.flying.size());
  const size_t size = std::min(room, client->output_.size());
  stream.flying.push(client->output_.view().first(size));
  client->output_.drop(size);
  if (client->end_wanted_ && client->output_.empty()) stream.end_sent = true;
  schedule_delivery(connection, Kind::to_server);
}

void NetworkMedia::hang_up(SimConnection& connection) {
  SimClient* client = std::exchange(connection.client, nullptr);
  close_if_done(connection);
  if (client == nullptr) return;
  client->state_ = SimClient::State::idle;
  client->connection_ = -1;
  client->handler_.on_closed();
}

void NetworkMedia::reset(SimConnection& connection) {
  connection.reset = true;
  connection.to_server.flying.clear();
  connection.to_client.flying.clear();
  if (connection.receive_op != nullptr) {
    finish(connection.receive_op, *connection.server, -ECONNRESET);
  }
  if (connection.send_op != nullptr) finish(connection.send_op, *connection.server, -ECONNRESET);
  hang_up(connection);
}

void NetworkMedia::crash() {
  for (auto& [id, listener] : listeners_) {
    if (listener.accept_op != nullptr) scheduler_.abandon(*listener.accept_op);
  }
  listeners_.clear();
  for (auto it = connections_.begin(); it != connections_.end();) {
    SimConnection& connection = *(it++)->second;
    for (Op** op : {&connection.receive_op, &connection.send_op}) {
      if (*op != nullptr) scheduler_.abandon(*std::exchange(*op, nullptr));
    }
    connection.server = nullptr;
    connection.server_closed = true;
    // What the dead kernel had queued may still have left the machine, up to some byte.
    SimStream& stream = connection.to_client;
    const auto flying = stream.flying.view();
    const auto kept = static_cast<size_t>(random_.below(flying.size() + 1));
    ByteFifo rest;
    rest.push(flying.first(random_.chance(0.5) ? kept : 0));
    stream.flying = std::move(rest);
    stream.end_sent = true;
    const bool waits = connection.client != nullptr && connection.client->reading_ &&
                       connection.client->connected();
    if (waits) {
      schedule_delivery(connection, Kind::to_client);
    } else if (connection.client != nullptr && connection.client->connected()) {
      schedule(Kind::hang_up, connection.id, draw_latency(random_, faults_.network_delay_ns));
    }
    close_if_done(connection);
  }
}

}  // namespace weir::io::sim
