#include "engine/broker/metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::broker {
namespace {

// Visitors over the describe() of every folder's metrics.
struct Collect {
  std::vector<uint64_t*>& counters;
  std::vector<model::Peak*>& peaks;
  std::vector<base::Histogram*>& histograms;
  void operator()(std::string_view, std::string_view, uint64_t& value) {
    counters.push_back(&value);
  }
  void operator()(std::string_view, std::string_view, model::Peak& value) {
    peaks.push_back(&value);
  }
  void operator()(std::string_view, std::string_view, base::Histogram& value) {
    histograms.push_back(&value);
  }
};

struct Print {
  std::string& out;
  void operator()(std::string_view name, std::string_view sentence, const uint64_t& value) {
    const std::string_view type = name.ends_with("_total") ? "counter" : "gauge";
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n{} {}\n", name, sentence,
                   name, type, name, value);
  }
  void operator()(std::string_view name, std::string_view sentence, const model::Peak& peak) {
    (*this)(name, sentence, peak.value);
  }
  void operator()(std::string_view name, std::string_view sentence,
                  const base::Histogram& histogram) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} summary\n", name, sentence,
                   name);
    for (const double share : {0.5, 0.9, 0.99, 0.999}) {
      fmt::format_to(std::back_inserter(out), "{}{{quantile=\"{}\"}} {}\n", name, share,
                     histogram.quantile(share));
    }
    fmt::format_to(std::back_inserter(out), "{}_sum {}\n{}_count {}\n", name, histogram.sum(),
                   name, histogram.count());
  }
};

template <class Snapshot, class Visitor>
void visit(Snapshot& snapshot, Visitor& visitor) {
  std::remove_const_t<decltype(snapshot.journal)>::describe(visitor, snapshot.journal);
  std::remove_const_t<decltype(snapshot.partition)>::describe(visitor, snapshot.partition);
  std::remove_const_t<decltype(snapshot.group)>::describe(visitor, snapshot.group);
  std::remove_const_t<decltype(snapshot.transaction)>::describe(visitor, snapshot.transaction);
  std::remove_const_t<decltype(snapshot.handlers)>::describe(visitor, snapshot.handlers);
  std::remove_const_t<decltype(snapshot.connection)>::describe(visitor, snapshot.connection);
  visitor("weir_partitions", "partitions served", snapshot.partitions);
  visitor("weir_buffer_bytes", "memory of append buffers and reads in use", snapshot.buffer_bytes);
  visitor("weir_read_memory_bytes", "of these, what fetches hold until it has been sent",
          snapshot.read_bytes_held);
  visitor("weir_io_stuck", "calls to the disk under way for longer than weir.io.stuck.ms",
          snapshot.io_stuck);
  visitor("weir_io_stuck_episodes_total", "times that calls to a core's disk began to be stuck",
          snapshot.io_stuck_episodes);
}

}  // namespace

void MetricsSnapshot::add(const MetricsSnapshot& core) {
  std::vector<uint64_t*> mine;
  std::vector<uint64_t*> theirs;
  std::vector<model::Peak*> my_peaks;
  std::vector<model::Peak*> their_peaks;
  std::vector<base::Histogram*> my_histograms;
  std::vector<base::Histogram*> their_histograms;
  MetricsSnapshot other = core;
  Collect collect_mine{mine, my_peaks, my_histograms};
  Collect collect_theirs{theirs, their_peaks, their_histograms};
  visit(*this, collect_mine);
  visit(other, collect_theirs);
  for (size_t i = 0; i < mine.size(); ++i) *mine[i] += *theirs[i];
  for (size_t i = 0; i < my_peaks.size(); ++i) my_peaks[i]->raise(their_peaks[i]->value);
  for (size_t i = 0; i < my_histograms.size(); ++i) my_histograms[i]->merge(*their_histograms[i]);
  cores = static_cast<uint16_t>(cores + core.cores);
}

std::string MetricsSnapshot::text() const {
  std::string out;
  Print print{out};
  visit(*this, print);
  fmt::format_to(std::back_inserter(out), "# HELP weir_cores cores of this broker\n"
                                          "# TYPE weir_cores gauge\nweir_cores {}\n", cores);
  return out;
}

}  // namespace weir::broker
