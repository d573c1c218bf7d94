#include "calibrate/measure/suites/kernel_suite.h"

#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "calibrate/measure/checks/kernel_check.h"
#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/device/near_host.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/host/time_limit.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/prepare.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

std::string shown(const char* form, double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), form, value);
  return text.data();
}

/// "-" where the GPU does not say.
std::string known(const char* form, double value) { return value < 0 ? "-" : shown(form, value); }

struct Checked {
  bool passed = false;
  double error = 0;
};
using Checks = std::map<std::tuple<std::string, std::string, std::string, std::string, std::int64_t>, Checked>;

void tell(const std::string& what, const Checked& checked, double tolerance, int& failed) {
  if (!checked.passed) ++failed;
  say(std::string(checked.passed ? "passed " : "FAILED ") + what + ": error " + shown("%.2e", checked.error) +
      ", allowed " + shown("%.2e", tolerance));
}

Checks run_hand_written(cudaStream_t stream, int& failed) {
  Checks checks;
  for (const KernelCheck& check : kernel_checks(compute_capability())) {
    const double error = check.error(stream);
    const Checked checked{error <= check.tolerance, error};
    checks[{check.suite, check.kernel, check.dtype, check.layout, check.k}] = checked;
    tell(check.suite + " " + check.kernel + " " + check.dtype + " " + check.layout +
             (check.k == 0 ? "" : " " + std::to_string(check.k)),
         checked, check.tolerance, failed);
  }
  return checks;
}

Checked check_gemm(const PreparedKernel& prepared, cudaStream_t stream) {
  prepared.work(stream);
  const double error = prepared.error(stream);
  return {error <= prepared.tolerance, error};
}

/// The first twelve cells: what is measured.
std::vector<std::string> table_key(const KernelCase& one) {
  std::vector<std::string> key = key_of(one);
  key.insert(key.end() - 1, one.flops == 0 ? "-" : shown("%.9e", one.flops));
  return key;
}

std::vector<std::string> row_of(const KernelCase& one, const KernelSamples& timing, const SampleSpread& spread,
                                const std::string& check, const std::string& error) {
  std::vector<std::string> cells = table_key(one);
  cells.push_back(std::to_string(spread.repeats));
  for (const double seconds : {spread.median, spread.p10, spread.p90}) cells.push_back(seconds_cell(seconds));
  cells.push_back(known("%.0f", timing.state.clock_mhz));
  cells.push_back(known("%.0f", timing.state.power_w));
  cells.push_back(known("%.0f", timing.state.temperature_c));
  cells.emplace_back(throttled(timing.state.reasons) ? "1" : "0");
  cells.push_back(check);
  cells.push_back(error);
  return cells;
}

BundleTable kernel_table(const std::filesystem::path& folder, const std::string& run) {
  return {folder / "kernels.csv",
          run,
          {"suite",     "kernel",  "by",     "dtype",     "layout",  "batch",    "m",     "n",
           "k",         "bytes",   "flops",  "l2",        "repeats", "median_s", "p10_s", "p90_s",
           "clock_mhz", "power_w", "temp_c", "throttled", "check",   "max_error"},
          12};
}

}  // namespace

int run_checks() {
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  const Stream stream;
  int failed = 0;
  run_hand_written(stream, failed);
  CublasGemm gemm;
  const int capability = compute_capability();
  for (const auto& [dtype, least] : {std::pair{"fp32", 50}, std::pair{"fp16", 70}, std::pair{"tf32", 80},
                                     std::pair{"bf16", 80}, std::pair{"fp8", 89}}) {
    if (capability < least) continue;
    for (const char* layout : {"TN", "NN", "NT"}) {
      if (std::string(dtype) == "fp8" && std::string(layout) != "TN") continue;
      for (const std::int64_t batch : {1, 3}) {
        const KernelCase one = gemm_case(dtype, layout, batch, 208, 144, 528, 0);
        const std::string name = "gemm " + one.dtype + " " + one.layout + " x" + std::to_string(batch);
        try {
          const PreparedKernel prepared = prepare(one, gemm, stream);
          tell(name, check_gemm(prepared, stream), prepared.tolerance, failed);
        } catch (const std::runtime_error& problem) {  // what is worse shows in the next one
          ++failed;
          say("FAILED " + name + ": " + problem.what());
        }
      }
    }
  }
  return failed;
}

namespace {

/// The shapes of the plan, measured one after the other.
class KernelCases {
 public:
  KernelCases(const std::filesystem::path& folder, const std::string& run, const Nvml& nvml)
      : table_(kernel_table(folder, run)), timer_(nvml), checks_(run_hand_written(timer_.on(), failed_)) {}

  bool has(const KernelCase& one) const { return table_.has(table_key(one)); }
  int failed() const { return failed_; }
  void finish() { table_.finish(); }

  static std::string name_of(const KernelCase& one) {
    return one.suite + " " + one.kernel + " " + one.dtype + " " + one.layout + (one.cold ? " cold " : " warm ") +
           std::to_string(one.batch) + " x " + std::to_string(one.m) + " x " + std::to_string(one.n) + " x " +
           std::to_string(one.k) + ", " + std::to_string(one.bytes) + " bytes";
  }

  /// `done` of `all` cases were looked at before this one.
  void measure(const KernelCase& one, std::size_t done, std::size_t all) {
    const std::string name = name_of(one);
    std::string check = "-", error = "-";
    const auto known_check =
        checks_.find({one.suite, one.kernel, one.dtype, one.layout, one.suite == "attention" ? one.k : 0});
    const PreparedKernel prepared = prepare(one, gemm_, timer_.on());
    if (prepared.error || known_check != checks_.end()) {
      const Checked checked = prepared.error ? check_gemm(prepared, timer_.on()) : known_check->second;
      if (!checked.passed) {
        if (prepared.error) ++failed_;
        say("not measured, its check failed (error " + shown("%.2e", checked.error) + "): " + name);
        return;
      }
      check = "passed";
      error = shown("%.2e", checked.error);
    }
    constexpr int kLaunches = 1000;
    const KernelSamples timing = one.kernel == "event_pair" ? timer_.cold(prepared.work)
                                 : one.suite == "launch" && one.kernel == "stream"
                                     ? timer_.stream(prepared.work, kLaunches)
                                 : one.cold ? timer_.cold(prepared.work)
                                            : timer_.warm(prepared.work);
    const SampleSpread spread = spread_of(timing.samples);
    table_.add(row_of(one, timing, spread, check, error));
    if (throttled(timing.state.reasons)) say("throttled (" + throttle_words(timing.state.reasons) + "): " + name);
    if (drifts(timing.samples)) say("slowed down while it was measured: " + name);
    if (steady_seconds() < told_ + 5) return;
    told_ = steady_seconds();
    say("kernels " + std::to_string(done) + " of " + std::to_string(all) + ": " + name + ": " +
        shown("%.2f us", spread.median * 1e6) +
        (one.flops > 0 ? shown(", %.1f TFLOP/s", one.flops / spread.median / 1e12)
                       : shown(", %.1f GB/s", static_cast<double>(one.bytes) / spread.median / 1e9)));
  }

 private:
  BundleTable table_;
  KernelTimer timer_;
  int failed_ = 0;
  Checks checks_;
  CublasGemm gemm_;
  double told_ = steady_seconds();
};

}  // namespace

int run_kernel_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                     const Nvml& nvml, bool quick, double time_limit) {
  const TimeLimit limit(time_limit);
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  bind_near(0);
  CaseGuard guard(folder, run, "kernels", cluster);
  KernelCases cases(folder, run, nvml);
  std::size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  const std::vector<KernelCase> plan = kernel_plan({static_cast<std::int64_t>(available), compute_capability(), quick});
  std::size_t seen = 0;
  const std::size_t left_out = measure_in_time(
      plan,
      [&](const KernelCase& one) {
        ++seen;
        return cases.has(one) || guard.refused(KernelCases::name_of(one));
      },
      [&] { return limit.over(); },
      [&](const KernelCase& one) {
        guard.measure(KernelCases::name_of(one), [&] { cases.measure(one, seen, plan.size()); });
      });
  if (left_out > 0) say(left_out_line(left_out, plan.size(), "kernels"));
  cases.finish();
  guard.finish();
  return cases.failed();
}

}  // namespace stepcast::measure
