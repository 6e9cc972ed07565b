#pragma once
// WireClient: one blocking connection to a broker, for commands that ask and print. Requests and
// answers are the engine's own wire messages; versions are what both sides speak.
//
//   WireClient client("127.0.0.1:9092");
//   wire::MetadataRequest request{.topics = ...};
//   const auto answer = client.call<wire::MetadataResponse>(request);
//   for (const auto& topic : answer->topics) ...
//
// A call that fails (nobody there, connection lost, an answer that is none) throws Failure. What
// the
// broker answers is for the caller to look at, with check() where an error ends the command.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/error_code.h"
#include "engine/wire/codec.h"
#include "io/base/arena.h"
#include "tools/weir/failure.h"

namespace weir::tools {

// The body of an answer together with the bytes it views.
template <class Response>
struct Answer {
  std::vector<std::byte> frame;
  std::unique_ptr<base::Arena> arena;
  Response body{};

  const Response* operator->() const { return &body; }
};

class WireClient {
 public:
  // "host:port", several separated by commas: the first that takes the connection.
  explicit WireClient(const std::string& bootstrap);
  ~WireClient();
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  // version_max: where a later version leaves out what the caller needs (names for topic ids).
  template <class Response, class Request>
  Answer<Response> call(const Request& request, int16_t version_max = INT16_MAX);

  // The newest version up to version_max that both sides speak.
  [[nodiscard]] int16_t version(wire::ApiKey api, int16_t version_max = INT16_MAX) const;

 private:
  static constexpr size_t kArenaSizeMax = size_t{256} << 20;

  void learn_versions();
  void send(wire::Pieces frame);
  // The next frame without its size field, checked to be the answer to the last request.
  std::vector<std::byte> receive(wire::ApiKey api, int16_t version, size_t& body_position);
  void receive_exactly(std::byte* into, size_t size);
  [[noreturn]] void lost(std::string_view what) const;

  int socket_ = -1;
  std::string peer_;  // "host:port"
  int32_t correlation_id_ = 0;
  std::map<int16_t, int16_t> newest_version_;  // by API key, of the broker
};

// "Topic 'x' already exists (TOPIC_ALREADY_EXISTS)".
std::string describe_error(int16_t code, wire::NullableString message = {});
// Throws Failure, "what: the error", unless the code is 0.
void check(int16_t code, std::string_view what, wire::NullableString message = {});

// A view of a vector as a field of a request; the vector must outlive the call.
template <class T>
wire::Array<T> array_of(std::vector<T>& elements) {
  return {elements.data(), elements.size()};
}

template <class Response, class Request>
Answer<Response> WireClient::call(const Request& request, int16_t version_max) {
  const auto api = static_cast<wire::ApiKey>(Request::kInfo.key);
  const int16_t version = this->version(api, version_max);
  auto arena = std::make_unique<base::Arena>(kArenaSizeMax);
  send(wire::encode_request(++correlation_id_, "weir", version, request, *arena));
  arena->reset();
  size_t body_position = 0;
  Answer<Response> answer{.frame = receive(api, version, body_position), .arena = std::move(arena)};
  const wire::Bytes body = wire::Bytes(answer.frame).subspan(body_position);
  if (const auto decoded = wire::decode(answer.body, body, version, *answer.arena); !decoded) {
    lost(fmt::format("answered {} v{} with bytes that are no answer: {}", wire::name(api), version,
                     wire::to_string(decoded.error())));
  }
  return answer;
}

}  // namespace weir::tools
