#include "calibrate/logs/kernel_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

bool is_compute(KernelClass kind) { return kind != KernelClass::collective && kind != KernelClass::copy; }

struct Interval {
  Time start{}, end{};
};

/// Sorted and without overlaps.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, [](const Interval& i) { return std::pair(i.start, i.end); });
  std::vector<Interval> out;
  for (const Interval& each : intervals) {
    if (!out.empty() && each.start <= out.back().end) {
      out.back().end = std::max(out.back().end, each.end);
    } else {
      out.push_back(each);
    }
  }
  return out;
}

Time length(const std::vector<Interval>& intervals) {
  Time sum{};
  for (const Interval& each : intervals) sum += each.end - each.start;
  return sum;
}

/// Time in both; each sorted and without overlaps.
Time in_both(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  Time sum{};
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const Time start = std::max(a[i].start, b[k].start), end = std::min(a[i].end, b[k].end);
    if (start < end) sum += end - start;
    (a[i].end < b[k].end ? i : k) += 1;
  }
  return sum;
}

DeviceTime device_time(std::uint32_t device, const std::vector<const KernelSpan*>& spans) {
  std::vector<Interval> all, compute, collective, copy;
  for (const KernelSpan* span : spans) {
    const Interval interval{span->start, span->start + span->duration};
    all.push_back(interval);
    (is_compute(span->kind) ? compute : span->kind == KernelClass::copy ? copy : collective).push_back(interval);
  }
  const std::vector<Interval> busy = merged(std::move(all)), computing = merged(std::move(compute)),
                              talking = merged(std::move(collective));
  return {device,          busy.back().end - busy.front().start, length(computing),
          length(talking), in_both(talking, computing),          length(merged(std::move(copy)))};
}

}  // namespace

std::string_view name(KernelClass kind) {
  constexpr std::array<std::string_view, 5> kNames{"gemm", "attention", "elementwise", "collective", "copy"};
  return kNames[static_cast<std::size_t>(kind)];
}

KernelClass class_of(std::string_view kernel) {
  std::string lower(kernel);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto holds = [&](auto... words) { return ((lower.find(words) != std::string::npos) || ...); };
  if (holds("nccl", "rccl", "nvshmem", "all_reduce_kernel", "allreduce")) return KernelClass::collective;
  if (holds("memcpy", "memset", "[cuda mem")) return KernelClass::copy;
  if (holds("flash", "fmha", "attention", "attn", "sdpa")) return KernelClass::attention;
  if (holds("gemm", "nvjet", "cutlass", "xmma", "cublas", "matmul", "wgmma", "triton_tem", "triton_mm", "gemv",
            "convolve", "conv2d", "fprop", "dgrad", "wgrad", "winograd", "scudnn", "884cudnn", "688cudnn", "816cudnn",
            "splitkreduce"))
    return KernelClass::gemm;
  return KernelClass::elementwise;
}

std::optional<collectives::Operation> operation_of(std::string_view name) {
  using collectives::Operation;
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::pair<std::string_view, Operation> kWords[] = {
      {"allreduce", Operation::all_reduce},         {"allgather", Operation::all_gather},
      {"reducescatter", Operation::reduce_scatter}, {"alltoall", Operation::all_to_all},
      {"sendrecv", Operation::send_recv},           {"broadcast", Operation::broadcast},
      {"ncclkernelreduce", Operation::reduce},      {"nccldevkernelreduce", Operation::reduce}};
  for (const auto& [word, operation] : kWords)
    if (plain.find(word) != std::string::npos) return operation;
  if (plain == "send" || plain == "recv") return Operation::send_recv;
  if (plain == "reduce") return Operation::reduce;
  return {};
}

void check_total(const KernelLog& log) {
  constexpr double kMostSeconds = 9e6;  // of all runs together; what a time holds is 9.2e6
  double sum = 0;
  for (const KernelSpan& span : log.spans) sum += to_seconds(span.duration);
  if (sum > kMostSeconds) throw InputError("", "the kernels' times add up to more than 104 days");
}

std::uint32_t KernelNames::number_of(const std::string& name) {
  const auto [at, fresh] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.push_back(&at->first);
  return at->second;
}

KernelTable kernel_table(const KernelLog& log) {
  check_total(log);
  std::map<std::pair<std::uint32_t, KernelClass>, std::vector<Time>> times;
  std::map<std::uint32_t, std::vector<const KernelSpan*>> devices;
  for (const KernelSpan& span : log.spans) {
    times[{span.name, span.kind}].push_back(span.duration);
    devices[span.device].push_back(&span);
  }
  KernelTable table;
  for (auto& [key, durations] : times) {
    std::ranges::sort(durations);
    const std::size_t half = durations.size() / 2;
    KernelTotal total{log.names[key.first], key.second, durations.size(), {}, durations[half]};
    if (durations.size() % 2 == 0) total.median = {(durations[half - 1].value + durations[half].value) / 2};
    for (const Time each : durations) total.total += each;
    table.kernels.push_back(std::move(total));
  }
  std::ranges::sort(table.kernels, [](const KernelTotal& a, const KernelTotal& b) {
    return std::tie(b.total, a.name, a.kind) < std::tie(a.total, b.name, b.kind);
  });
  for (const auto& [device, on_it] : devices) table.devices.push_back(device_time(device, on_it));
  return table;
}

}  // namespace stepcast::calibrate
