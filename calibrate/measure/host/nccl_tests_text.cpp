#include "calibrate/measure/host/nccl_tests_text.h"

#include <array>
#include <cstdio>

#include "calibrate/measure/host/collective_plan.h"

namespace stepcast::measure {
namespace {

/// nccl-tests' programs are called alltoall_perf and sendrecv_perf.
std::string program(const std::string& collective) {
  if (collective == "all_to_all") return "alltoall";
  if (collective == "send_recv") return "sendrecv";
  return collective;
}

template <class... Values>
std::string format(const char* form, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text.data();
}

/// "  12.34   85.0  148.7      0", or N/A in place of each.
std::string measured(double seconds, std::int64_t wrong, std::int64_t bytes, double factor) {
  if (seconds < 0) return format(" %7s %6s %6s %6s", "N/A", "N/A", "N/A", "N/A");
  const double rate = static_cast<double>(bytes) / seconds / 1e9;
  return format(" %7.2f %6.2f %6.2f %6lld", seconds * 1e6, rate, rate * factor, static_cast<long long>(wrong));
}

}  // namespace

std::string nccl_tests_text(const std::string& collective, const std::string& redop, const std::vector<int>& gpus,
                            int nodes, const std::string& device, const std::vector<NcclTestsLine>& rows) {
  const int gpus_per_node = static_cast<int>(gpus.size()), ranks = gpus_per_node * nodes;
  const double factor = bus_factor(collective, ranks);
  std::string text = "# " + program(collective) + "_perf, in the form of nccl-tests, by stepcast_measure\n";
  text += format("# nThread 1 nGpus %d nodes %d\n#\n# Using devices\n", gpus_per_node, nodes);
  for (int rank = 0; rank < ranks; ++rank) {
    text += format("#  Rank %2d Group  0 Pid      0 on node%d device %2d %s\n", rank, rank / gpus_per_node,
                   gpus[static_cast<std::size_t>(rank % gpus_per_node)], device.c_str());
  }
  text += format("#\n# %38s %29s %29s\n", "", "out-of-place", "in-place");
  text += format("#%11s %12s %7s %6s %6s %7s %6s %6s %6s %7s %6s %6s %6s\n", "size", "count", "type", "redop", "root",
                 "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong");
  text += format("#%11s %12s %7s %6s %6s %7s %6s %6s %6s %7s %6s %6s %6s\n", "(B)", "(elements)", "", "", "", "(us)",
                 "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
  for (const NcclTestsLine& row : rows) {
    text += format("%12lld %12lld %7s %6s %6s", static_cast<long long>(row.bytes), static_cast<long long>(row.count),
                   "float", redop.c_str(), collective == "broadcast" || collective == "reduce" ? "0" : "-1");
    text += measured(row.out_of_place, row.wrong_out, row.bytes, factor);
    text += measured(row.in_place, row.wrong_in, row.bytes, factor) + "\n";
  }
  return text;
}

}  // namespace stepcast::measure
