#include "tools/weir/bench_progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "bench/load/quantity.h"

namespace weir::tools {
namespace {

constexpr int64_t kBarWidth = 20;

// Written by the handler only.
volatile sig_atomic_t g_signal = 0;

void on_signal(int signal) { g_signal = signal; }

}  // namespace

void watch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, on_signal);
}

int interrupted_by() { return g_signal; }

BenchProgress::BenchProgress(Options options)
    : options_(std::move(options)), drawing_(options_.draw && ::isatty(STDERR_FILENO) == 1) {}

BenchProgress::~BenchProgress() {
  if (drawing_) fmt::print(stderr, "\r\x1b[K");
}

std::optional<load::ProcessStats> BenchProgress::stats() const {
  if (options_.broker == 0) return std::nullopt;
  auto stats = load::process_stats(options_.broker);
  return stats ? std::optional(*stats) : std::nullopt;
}

void BenchProgress::on_measure_begin() { broker_before = stats(); }
void BenchProgress::on_measure_end() { broker_after = stats(); }

bool BenchProgress::on_progress(int64_t elapsed_ms, const load::Live& live) {
  acked_bytes_ += live.acked_bytes;
  if (drawing_) draw(elapsed_ms, elapsed_ms - last_ms_, live);
  last_ms_ = elapsed_ms;
  if (options_.stop_at_bytes > 0 && acked_bytes_ >= options_.stop_at_bytes) return false;
  return interrupted_by() == 0;
}

void BenchProgress::draw(int64_t elapsed_ms, int64_t interval_ms, const load::Live& live) const {
  const int64_t total_ms = options_.warmup_ms + options_.duration_ms;
  double share = std::min(1.0, static_cast<double>(elapsed_ms) / static_cast<double>(total_ms));
  if (options_.stop_at_bytes > 0) {
    share = std::min(1.0, static_cast<double>(acked_bytes_) /
                              static_cast<double>(options_.stop_at_bytes));
  }
  const auto full = static_cast<size_t>(share * kBarWidth);
  const double seconds = static_cast<double>(std::max<int64_t>(1, interval_ms)) / 1e3;
  const auto rate = [&](uint64_t bytes) {
    return load::print_bytes(static_cast<double>(bytes) / seconds) + "/s";
  };
  std::string text = fmt::format("\r\x1b[K{} [{}{}] {:.1f} s", options_.label,
                                 std::string(full, '#'),
                                 std::string(static_cast<size_t>(kBarWidth) - full, '.'),
                                 static_cast<double>(elapsed_ms) / 1e3);
  if (elapsed_ms < options_.warmup_ms) text += " warm-up";
  if (elapsed_ms > total_ms) text += " draining";
  if (live.acked_bytes > 0) text += "  acked " + rate(live.acked_bytes);
  if (live.read_bytes > 0) text += "  read " + rate(live.read_bytes);
  if (live.latency_us.count() > 0) {
    const auto quantile = [&](double q) {
      return load::print_latency(live.latency_us.quantile(q) * 1000);
    };
    text += fmt::format("  p50 {} p99 {}", quantile(0.5), quantile(0.99));
  }
  if (live.errors > 0) text += fmt::format("  {} errors", live.errors);
  fmt::print(stderr, "{}", text);
}

}  // namespace weir::tools
