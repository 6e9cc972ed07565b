#include "tests/sim/actor.h"

#include <fmt/format.h>

namespace weir::simtest {
namespace {

constexpr int64_t kReconnectNs = 5'000'000;
constexpr int32_t kFrameSizeMax = 64 << 20;

}  // namespace

void trace(const Context& context, const std::string& line) {
  if (!context.verbose) return;
  fmt::print(stderr, "{:>14.6f} ms #{} {}\n", static_cast<double>(context.world.now_ns()) / 1e6,
             context.world.event_count(), line);
}

Actor::Actor(Context& context, std::string name)
    : context_(context), random_(context.scenario.seed, "workload " + name),
      name_(std::move(name)), client_(context.world.network(), *this) {}

Actor::~Actor() { context_.world.scheduler().forget(*this); }

void Actor::wake_after(int64_t delay_ns) {
  context_.world.scheduler().after(delay_ns, *this, kWake, ++wake_number_);
}

void Actor::fail(const std::string& what) {
  context_.findings.report(fmt::format("{}: {}", name_, what));
}

void Actor::on_event(uint32_t kind, uint64_t argument) {
  if (kind == kWake) {
    if (argument == wake_number_) wake();
    return;
  }
  for (const Outstanding& request : outstanding_) {
    if (request.correlation != static_cast<int32_t>(argument)) continue;
    return fail(fmt::format("I19: request {} of api {} unanswered for {} s", request.correlation,
                            static_cast<int>(request.api), kRequestTimeoutNs / 1'000'000'000));
  }
}

void Actor::wake() {
  if (context_.paused && !works_while_paused()) return;  // resume() wakes again
  if (!wants_connection()) return;
  if (client_.idle()) return client_.connect({"127.0.0.1", kBrokerPort});
  if (client_.connected()) act();
}

int32_t Actor::send(Api api, int version, ByteSpan body) {
  const int32_t correlation = next_correlation_++;
  Writer frame;
  frame.i32(0).i16(static_cast<int>(api)).i16(version).i32(correlation).text(name_).raw(body);
  frame.patch_i32(0, static_cast<int64_t>(frame.size()) - 4);
  outstanding_.push_back({correlation, api});
  client_.send(frame.view());
  context_.world.scheduler().after(kRequestTimeoutNs, *this, kTimeout,
                                   static_cast<uint64_t>(correlation));
  return correlation;
}

void Actor::drop_connection(bool by_reset) {
  if (by_reset) client_.reset();
  else client_.close();
  on_closed();
}

void Actor::on_connected() { wake(); }

void Actor::on_data() {
  if (ignores_answers()) return client_.received().clear();
  while (client_.connected()) {
    const ByteSpan bytes = client_.received().view();
    Reader header(bytes);
    const int32_t size = header.i32();
    if (!header.ok()) return;
    if (size < 4 || size > kFrameSizeMax) return fail(fmt::format("response of {} bytes", size));
    const ByteSpan frame = header.raw(static_cast<size_t>(size));
    if (!header.ok()) return;
    const ByteString held(frame.begin(), frame.end());
    client_.received().drop(static_cast<size_t>(size) + 4);
    Reader body(held);
    const int32_t correlation = body.i32();
    if (outstanding_.empty() || outstanding_.front().correlation != correlation) {
      return fail(fmt::format("response {} where {} was due", correlation,
                              outstanding_.empty() ? -1 : outstanding_.front().correlation));
    }
    const Api api = outstanding_.front().api;
    outstanding_.pop_front();
    context_.world.scheduler().trace("answer", static_cast<uint64_t>(correlation),
                                     static_cast<uint64_t>(api), body.remaining());
    on_response(correlation, api, body);
    if (!body.ok()) return fail(fmt::format("short response of api {}", static_cast<int>(api)));
    if (body.remaining() > 0) {
      return fail(fmt::format("response of api {} has {} bytes too many", static_cast<int>(api),
                              body.remaining()));
    }
  }
}

void Actor::on_closed() {
  outstanding_.clear();
  on_lost();
  wake_after(static_cast<int64_t>(random_.between(kReconnectNs / 4, kReconnectNs)));
}

}  // namespace weir::simtest
