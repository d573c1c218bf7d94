#include "calibrate/measure/suites/sustained_suite.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/sustained_rounds.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/prepare.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr double kWindow = 0.05;                 // seconds between two looks at the clocks
constexpr auto kRest = std::chrono::seconds(5);  // before each work: its burst is that of a GPU at ease

/// Kernels that run one after the other, round after round.
struct LongWork {
  std::string name;
  std::vector<PreparedKernel> kernels;
  void round(cudaStream_t stream) const {
    for (const PreparedKernel& kernel : kernels) kernel.work(stream);
  }
};

/// The shapes of a layer of hidden size 4096 and 4096 tokens, forward and backward: its four linear layers three ways
/// each, attention of 32 heads, norms and activation.
std::vector<KernelCase> layer_cases(const std::string& dtype, bool bf16) {
  constexpr std::int64_t kTokens = 4096, kHidden = 4096, kHeads = 32;
  std::vector<KernelCase> cases;
  for (const auto& [out, in] : {std::pair{3 * kHidden, kHidden}, std::pair{kHidden, kHidden},
                                std::pair{4 * kHidden, kHidden}, std::pair{kHidden, 4 * kHidden}}) {
    cases.push_back(gemm_case(dtype, "TN", 1, out, kTokens, in, 0));
    cases.push_back(gemm_case(dtype, "NN", 1, in, kTokens, out, 0));
    cases.push_back(gemm_case(dtype, "NT", 1, in, out, kTokens, 0));
  }
  for (const char* kernel : {"forward", "backward"}) {
    KernelCase one;
    one.suite = "attention";
    one.kernel = kernel;
    one.dtype = dtype;
    one.layout = "causal";
    one.batch = kHeads;
    one.m = one.n = kTokens;
    one.k = kHidden / kHeads;
    cases.push_back(one);
  }
  const std::string element = bf16 ? "bf16" : "fp32";
  for (const char* kernel : {"layer_norm", "layer_norm_backward", "bias_dropout_add", "bias_dropout_add_backward"}) {
    cases.push_back(elementwise_case(kernel, element, kTokens, kHidden));
    cases.push_back(elementwise_case(kernel, element, kTokens, kHidden));
  }
  for (const char* kernel : {"gelu", "gelu_backward"})
    cases.push_back(elementwise_case(kernel, element, kTokens, 4 * kHidden));
  return cases;
}

LongWork long_work(const std::string& name, const std::string& dtype, CublasGemm& gemm, cudaStream_t stream) {
  std::vector<KernelCase> cases;
  if (name == "gemm") {
    cases.push_back(gemm_case(dtype, "TN", 1, 8192, 8192, 8192, 0));
  } else if (name == "stream") {
    KernelCase triad;
    triad.suite = "stream";
    triad.kernel = "triad";
    triad.bytes = 3 * (std::int64_t{512} << 20);
    cases.push_back(triad);
  } else {
    cases = layer_cases(dtype, dtype == "bf16");
  }
  LongWork work{name, {}};
  for (const KernelCase& one : cases) work.kernels.push_back(prepare(one, gemm, stream));
  return work;
}

/// Windows of rounds for so many seconds; the next window is on the stream before this one ends, so that the GPU never
/// waits.
std::vector<SustainedWindow> run_for(const LongWork& work, double seconds, cudaStream_t stream, const Nvml& nvml) {
  const auto window_of = [&](int rounds, const CudaEvent& end) {
    for (int i = 0; i < rounds; ++i) work.round(stream);
    end.record(stream);
  };
  const CudaEvent begin, warm;
  begin.record(stream);
  window_of(2, warm);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const int rounds = std::clamp(static_cast<int>(std::ceil(kWindow / std::max(warm.since(begin) / 2, 1e-6))), 1, 512);
  std::this_thread::sleep_for(kRest);

  std::vector<SustainedWindow> windows;
  const CudaEvent start;
  start.record(stream);
  std::array<CudaEvent, 3> ends;
  window_of(rounds, ends[0]);
  double told = 0;
  for (std::size_t i = 0; told < seconds; ++i) {
    window_of(rounds, ends[(i + 1) % ends.size()]);
    const CudaEvent& end = ends[i % ends.size()];
    check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
    const GpuState state = nvml.state(0);
    const double at = end.since(start);
    windows.push_back({at, (at - told) / rounds, state.clock_mhz, state.power_w, state.temperature_c, state.reasons});
    told = at;
  }
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return windows;
}

std::string number(const char* form, double value) {
  if (value < 0) return "-";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), form, value);
  return text.data();
}

}  // namespace

void run_sustained_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                         const Nvml& nvml, double seconds) {
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  CaseGuard guard(folder, run, "sustained", cluster);
  BundleTable table(folder / "sustained.csv", run,
                    {"work", "dtype", "seconds", "burst_s", "windows", "median_s", "p10_s", "p90_s", "clock_mhz",
                     "power_w", "temp_c", "capped", "throttled"},
                    2);
  BundleTable clocks(folder / "clocks.csv", run, {"work", "dtype", "at_s", "clock_mhz", "power_w", "temp_c", "reasons"},
                     3);
  const std::string dtype = compute_capability() >= 80 ? "bf16" : "fp16";
  const Stream stream;
  CublasGemm gemm;
  for (const char* const name : {"layer", "gemm", "stream"}) {
    if (table.has({name, dtype}) || guard.refused(name)) continue;
    say("sustained: " + std::string(name) + " for " + number("%.0f s", seconds));
    // No call of it waits longer than a window: a run of an hour is not taken for a hung one.
    guard.measure(
        name,
        [&] {
          const LongWork work = long_work(name, dtype, gemm, stream);
          const std::vector<SustainedWindow> windows = run_for(work, seconds, stream, nvml);
          const SustainedRounds rounds = sum_up(windows);
          for (const SustainedWindow& w : windows) {
            const std::vector<std::string> key{name, dtype, number("%.4f", w.at_s)};
            if (clocks.has(key)) continue;
            clocks.add({key[0], key[1], key[2], number("%.0f", w.clock_mhz), number("%.1f", w.power_w),
                        number("%.0f", w.temperature_c), std::to_string(w.reasons)});
          }
          table.add({name, dtype, number("%.3f", windows.back().at_s), seconds_cell(rounds.burst_s),
                     std::to_string(rounds.held.repeats), seconds_cell(rounds.held.median),
                     seconds_cell(rounds.held.p10), seconds_cell(rounds.held.p90), number("%.0f", rounds.clock_mhz),
                     number("%.0f", rounds.power_w), number("%.0f", rounds.temperature_c),
                     number("%.3f", rounds.capped), rounds.throttled ? "1" : "0"});
        },
        seconds);
  }
  clocks.finish();
  table.finish();
  guard.finish();
}

}  // namespace stepcast::measure
