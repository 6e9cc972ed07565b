// SimNetwork and SimClient: the calls of the two ends of a connection.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/sim/sim_client.h"
#include "io/sim/sim_loop.h"
#include "io/sim/sim_network.h"

namespace weir::io::sim {

namespace {
constexpr int64_t kCallNs = 1'000;  // between a call and the first thing that comes of it
}

SimConnection& SimNetwork::connection(SocketId socket) {
  SimConnection* connection = media_.find(socket.value());
  ASSERT(connection != nullptr && connection->server == this, "socket {} is not open",
         socket.value());
  return *connection;
}

base::Result<ListenerId> SimNetwork::listen(const Address& address) {
  if (media_.scheduler_.dead()) return base::error(EIO, "listen");
  NetworkMedia::Listener listener;
  listener.address = address;
  if (address.port == 0) listener.address.port = media_.next_port_++;
  listener.owner = this;
  const int32_t id = media_.next_listener_++;
  media_.listeners_.emplace(id, std::move(listener));
  return ListenerId(id);
}

Address SimNetwork::listening(ListenerId listener) {
  const auto found = media_.listeners_.find(listener.value());
  return found == media_.listeners_.end() ? Address{} : found->second.address;
}

void SimNetwork::accept(Op& op, ListenerId listener) {
  op.arm();
  const auto found = media_.listeners_.find(listener.value());
  if (media_.scheduler_.dead()) return loop_.complete(op, -EIO);
  ASSERT(found != media_.listeners_.end() && found->second.accept_op == nullptr);
  found->second.accept_op = &op;
  media_.try_accept(listener.value());
}

void SimNetwork::stop_listening(Op& op, ListenerId listener) {
  op.arm();
  if (media_.scheduler_.dead()) return loop_.complete(op, -EIO);
  const auto found = media_.listeners_.find(listener.value());
  ASSERT(found != media_.listeners_.end());
  if (found->second.accept_op != nullptr) loop_.complete(*found->second.accept_op, -ECANCELED);
  for (int32_t id : found->second.backlog) {
    SimConnection* waiting = media_.find(id);
    if (waiting != nullptr) media_.reset(*waiting);
  }
  media_.listeners_.erase(found);
  loop_.complete(op, 0);
}

void SimNetwork::start_receive(Op& op, ReceiveOp* view, SocketId socket,
                               std::span<std::byte> into) {
  op.arm();
  if (media_.scheduler_.dead()) return loop_.complete(op, -EIO);
  SimConnection& connection = this->connection(socket);
  ASSERT(connection.receive_op == nullptr, "two receives on socket {}", socket.value());
  connection.receive_op = &op;
  connection.receive_view = view;
  connection.receive_into = into;
  media_.schedule(NetworkMedia::Kind::receive, connection.id, kCallNs);
}

void SimNetwork::receive(ReceiveOp& op, SocketId socket) { start_receive(op, &op, socket, {}); }

void SimNetwork::receive_into(Op& op, SocketId socket, std::span<std::byte> into) {
  ASSERT(!into.empty());
  std::ranges::fill(into, std::byte{0xDB});
  start_receive(op, nullptr, socket, into);
}

void SimNetwork::send(Op& op, SocketId socket, std::span<const Slice> pieces) {
  op.arm();
  if (media_.scheduler_.dead()) return loop_.complete(op, -EIO);
  SimConnection& connection = this->connection(socket);
  ASSERT(connection.send_op == nullptr, "two sends on socket {}", socket.value());
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  connection.send_op = &op;
  connection.send_pieces = pieces;
  connection.send_sum = NetworkMedia::checksum(pieces);
  media_.schedule(NetworkMedia::Kind::send, connection.id, kCallNs);
}

void SimNetwork::close(Op& op, SocketId socket) {
  op.arm();
  if (media_.scheduler_.dead()) return loop_.complete(op, -EIO);
  SimConnection& connection = this->connection(socket);
  for (Op** armed : {&connection.receive_op, &connection.send_op}) {
    if (*armed != nullptr) NetworkMedia::finish(*armed, *this, -ECANCELED);
  }
  loop_.complete(op, 0);
  connection.server = nullptr;
  connection.server_closed = true;
  const bool unread = !connection.to_server.arrived.empty();
  if (unread && media_.random_.chance(0.3)) connection.to_client.flying.clear();  // as a RST does
  connection.to_client.end_sent = true;
  media_.schedule_delivery(connection, NetworkMedia::Kind::to_client);
  media_.close_if_done(connection);
}

Address SimNetwork::local_address(SocketId socket) { return connection(socket).local; }
Address SimNetwork::peer_address(SocketId socket) { return connection(socket).peer; }

void SimNetwork::poison_received() {
  for (int32_t id : shown_) {
    if (SimConnection* connection = media_.find(id)) {
      std::ranges::fill(connection->view, std::byte{0xDB});
    }
  }
  shown_.clear();
}

SimClient::~SimClient() {
  if (state_ != State::idle) reset();
}

void SimClient::connect(const Address& address) {
  ASSERT(state_ == State::idle);
  state_ = State::connecting;
  output_.clear();
  received_.clear();
  end_wanted_ = false;
  auto connection = std::make_unique<SimConnection>();
  connection_ = media_.next_connection_++;
  connection->id = connection_;
  connection->local = address;
  connection->peer = {"127.0.0.1", static_cast<uint16_t>(10'000 + connection_ % 20'000)};
  connection->client = this;
  media_.connections_.emplace(connection_, std::move(connection));
  media_.schedule(NetworkMedia::Kind::arrive, connection_,
                  draw_latency(media_.random_, media_.faults_.network_delay_ns));
}

void SimClient::send(std::span<const std::byte> bytes) {
  if (state_ == State::idle) return;  // the connection went away; on_closed told
  output_.push(bytes);
  if (state_ == State::connected) {
    media_.schedule(NetworkMedia::Kind::output, connection_, kCallNs);
  }
}

void SimClient::finish_sending() {
  end_wanted_ = true;
  if (state_ == State::connected) {
    media_.schedule(NetworkMedia::Kind::output, connection_, kCallNs);
  }
}

void SimClient::detach() {
  SimConnection* connection = media_.find(std::exchange(connection_, -1));
  state_ = State::idle;
  if (connection == nullptr) return;
  connection->client = nullptr;
  media_.close_if_done(*connection);
}

void SimClient::close() {
  if (state_ == State::idle) return;
  if (SimConnection* connection = media_.find(connection_)) {
    connection->to_server.flying.push(output_.view());
    connection->to_server.end_sent = true;
    connection->to_client.flying.clear();
    media_.schedule_delivery(*connection, NetworkMedia::Kind::to_server);
    if (connection->send_op != nullptr) {
      media_.schedule(NetworkMedia::Kind::send, connection_, kCallNs);
    }
  }
  detach();
}

void SimClient::reset() {
  if (state_ == State::idle) return;
  SimConnection* connection = media_.find(connection_);
  state_ = State::idle;
  connection_ = -1;
  if (connection == nullptr) return;
  connection->client = nullptr;  // own resets are not told
  media_.reset(*connection);
}

void SimClient::set_reading(bool reading) {
  reading_ = reading;
  SimConnection* connection = media_.find(connection_);
  if (!reading || connection == nullptr || state_ != State::connected) return;
  connection->to_client.moving = true;
  media_.schedule(NetworkMedia::Kind::to_client, connection_, kCallNs);
}

}  // namespace weir::io::sim
