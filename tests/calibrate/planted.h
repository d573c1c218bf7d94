#pragma once

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibrate/bundle/bundle.h"
#include "models/cost/gemm.h"
#include "models/cost/kernel_time.h"
#include "scenario/gpu.h"
#include "tests/calibrate/bundle/small_bundle.h"

namespace stepcast::calibrate {

/// A machine whose constants are known, and how noisy measuring it is: bundles made of it are what a fit must find the
/// constants in again.
struct Planted {
  schedules::Gpu gpu;
  double launch_graph = 1.2e-6, launch_stream = 2.3e-6, event_pair = 4.1e-6;
  double gelu = 0.94, softmax = 0.81, adam = 0.88;  ///< share of the streaming rate
  double pinned_latency = 8e-6, pinned_bandwidth = 55e9;
  double slowdown = 0.13;
  double noise = 0.01;  ///< standard deviation of log time
};

/// An H200's data sheet with constants unlike those of configs/gpus/.
inline Planted planted() {
  Planted p;
  schedules::Gpu& g = p.gpu;
  g.name = "h200-sxm";
  g.compute_capability = 90;
  g.sms = 132;
  g.memory_bandwidth = {4.8e12};
  g.memory_efficiency = 0.87;
  g.memory_ramp = nanoseconds(1600);
  g.peak = {{schedules::Precision::bf16, {989.4e12}}, {schedules::Precision::fp32, {66.9e12}}};
  g.gemm_of[schedules::Precision::bf16] = {
      .mainloop = 0.78, .sustained = 0.71, .tile_128 = 0.82, .tile_64 = 0.55, .fill = 60, .exposed_write = 0.5};
  g.attention_forward = 0.57;
  g.attention_backward = 0.46;
  return p;
}

/// A bundle of that machine; the same for the same seed.
inline std::vector<BundleFile> planted_bundle(const Planted& p, unsigned seed) {
  using schedules::Precision;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto noisy = [&](double seconds) { return seconds * std::exp(p.noise * normal(random)); };
  const auto spread = [](double s) { return fmt::format("200,{:.6e},{:.6e},{:.6e}", s, 0.99 * s, 1.01 * s); };
  const std::string tail = ",1980,500,55,0,passed,1e-3";

  std::vector<std::string> kernels{"launch,stream,-,-,-,,,,,,,-," + spread(p.launch_stream) + ",1980,120,40,0,-,",
                                   "launch,graph,-,-,-,,,,,,,-," + spread(p.launch_graph) + ",1980,120,40,0,-,",
                                   "launch,event_pair,-,-,-,,,,,,,-," + spread(p.event_pair) + ",1980,120,40,0,-,"};
  const double rate = p.gpu.memory_bandwidth.value * p.gpu.memory_efficiency;
  const auto stream = [&](const char* suite, const char* kernel, double share, std::int64_t m, std::int64_t n,
                          std::int64_t bytes) {
    const double t = p.event_pair + to_seconds(p.gpu.memory_ramp) + static_cast<double>(bytes) / (rate * share);
    kernels.push_back(fmt::format("{},{},{},bf16,-,,{},{},,{},,cold,{}{}", suite, kernel,
                                  suite == std::string("stream") ? "-" : "own", m, n, bytes, spread(noisy(t)), tail));
  };
  for (std::int64_t bytes = 1 << 16; bytes <= std::int64_t{1} << 32; bytes *= 2) {
    stream("stream", "copy", 1, 0, 0, bytes);
    stream("stream", "triad", 1, 0, 0, 3 * bytes / 2);
  }
  for (const std::int64_t rows : {512, 2048, 8192, 32768}) {
    for (const std::int64_t columns : {1024, 4096, 12288}) {
      stream("elementwise", "gelu", p.gelu, rows, columns, rows * columns * 4);
      stream("elementwise", "softmax", p.softmax, rows, columns, rows * columns * 4);
      stream("elementwise", "adam", p.adam, rows, columns, rows * columns * 30);
    }
  }
  const schedules::GemmMachine machine{p.gpu.sms, p.gpu.peak.at(Precision::bf16), p.gpu.memory_bandwidth,
                                       p.gpu.memory_efficiency};
  const char* const layouts[] = {"TN", "NN", "NT"};
  int number = 0;
  for (const std::int64_t m : {128, 512, 1024, 2048, 4096, 8192, 16384}) {
    for (const auto& [n, k] : std::vector<std::pair<std::int64_t, std::int64_t>>{{768, 768},
                                                                                 {1024, 4096},
                                                                                 {3072, 768},
                                                                                 {2560, 2560},
                                                                                 {4096, 4096},
                                                                                 {12288, 4096},
                                                                                 {4096, 11008},
                                                                                 {5120, 1280}}) {
      const double t = p.event_pair + to_seconds(gemm_time({m, n, k}, p.gpu.gemm_of.at(Precision::bf16), machine));
      kernels.push_back(fmt::format("gemm,matmul,cublaslt,bf16,{},1,{},{},{},{},{:.6e},cold,{}{}",
                                    layouts[number++ % 3], m, n, k, 2 * (m * k + k * n + m * n),
                                    2.0 * static_cast<double>(m * n * k), spread(noisy(t)), tail));
    }
  }
  const schedules::Software none;
  for (const std::int64_t length : {1024, 2048, 4096, 8192}) {
    for (const std::int64_t heads : {32, 64, 128}) {
      for (const bool backward : {false, true}) {
        const double square = static_cast<double>(heads * length) * static_cast<double>(length * 128);
        const int launches = backward ? 2 : 1;
        schedules::FusedAttention operation{schedules::OperatorKind::fused_attention,
                                            {(backward ? 8 : 4) * square},
                                            static_cast<double>(heads * length),
                                            backward,
                                            launches};
        const double t = p.event_pair + (launches - 1) * p.launch_graph +
                         to_seconds(schedules::KernelCost{p.gpu, none, Precision::bf16}.time(operation));
        kernels.push_back(fmt::format("attention,{},own,bf16,causal,{},{},{},128,,{:.6e},cold,{}{}",
                                      backward ? "backward" : "forward", heads, length, length, square,
                                      spread(noisy(t)), tail));
      }
    }
  }

  std::vector<std::string> copies;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 4) {
    const double t = p.pinned_latency + static_cast<double>(bytes) / p.pinned_bandwidth;
    copies.push_back(fmt::format("h2d,pinned,host,0,1,{},{}", bytes, spread(noisy(t))));
  }
  std::vector<std::string> interference;
  for (const char* const compute : {"gemm", "stream"}) {
    for (const int megabytes : {16, 64, 256, 1024}) {
      const double alone = 4e-4;
      interference.push_back(fmt::format("{},all_reduce,0,{},{:.6e},{:.6e},50", compute, megabytes << 20, alone,
                                         noisy(alone * (1 + p.slowdown))));
    }
  }
  return {{"machine.csv", measured_text("key,value", machine_rows(1))},
          {"kernels.csv", measured_text(kKernelHeader, kernels)},
          {"copies.csv", measured_text(kCopyHeader, copies)},
          {"interference.csv", measured_text(kInterferenceHeader, interference)}};
}

}  // namespace stepcast::calibrate
