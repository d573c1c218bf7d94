#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scenario/gemm_model.h"
#include "scenario/precision.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// One GPU, from configs/gpus/.
struct Gpu {
  std::string name;
  std::uint32_t compute_capability = 0;  ///< NVIDIA's, times ten; 0: not said
  std::string pci_device;                ///< "0x20b0"; empty: not said
  std::uint32_t sms = 0;
  Bytes memory{};                  ///< capacity
  Bandwidth memory_bandwidth{};    ///< data sheet
  double memory_efficiency = 1.0;  ///< share of it that long streaming kernels reach, (0, 1]
  Time memory_ramp{};              ///< what a kernel bound by memory takes beside its bytes and the launch
  /// Share of the streaming rate that kinds of kernels reach (cost/elementwise.h), where a calibration measured them.
  std::map<std::string, double, std::less<>> elementwise;
  std::map<Precision, FlopRate> peak;  ///< dense, matrix units where the precision has them
  GemmModel gemm;
  std::map<Precision, GemmModel> gemm_of;  ///< of one precision alone, where a calibration measured it; else gemm
  /// Where there are no matrix units for the precision: fp32. Assumed: plain cores are easily fed, from tiles half as
  /// large, and libraries reach some 93% of their peak.
  GemmModel gemm_simt{.mainloop = 0.95,
                      .sustained = 0.93,
                      .tile_128 = 1,
                      .tile_64 = 0.9,
                      .fill = 8,
                      .exposed_write = 0.5,
                      .aligned_4 = 1,  // plain cores load one number at a time
                      .aligned_2 = 1};
  double fp8_share =
      1;  ///< 8-bit multiplies reach this much of the share of their peak that 16-bit ones reach of theirs
  double fp8_rowwise_share = 1;    ///< of that, 8-bit multiplies that scale by row what they write
  double attention_forward = 0.5;  ///< fused causal attention: skipped half not counted, share of peak
  double attention_backward = 0.4;
  double attention_flash_2 = 1;  ///< share of these rates that FlashAttention-2 reaches: below 1 where newer kernels do
  double attention_cudnn = 1;    ///< likewise cuDNN
  double attention_fp8_share = 1;  ///< as fp8_share, of fused attention in 8 bits
  double step_share = 1;  ///< in a running step, of all rates measured alone: clocks fall under the power limit
  std::optional<double> low_precision_step_share{};  ///< likewise in a step whose multiplies have 8 or 4 bits
  double spread = 0;  ///< standard deviation of the speed of multiplies among GPUs of the kind, in shares of the mean
  double scan_speed = 1;              ///< of one multiprocessor in kernels that scan chunks (Software's ScanRates)
  std::int64_t attention_tile = 128;  ///< query rows that one block of the forward kernel works on
  std::string source;
};

/// What long streaming kernels reach.
inline Bandwidth streaming_rate(const Gpu& gpu) { return gpu.memory_bandwidth * gpu.memory_efficiency; }

/// The peak of a precision. Requires gpu.peak to have it (check() says so before).
inline FlopRate peak(const Gpu& gpu, Precision precision) { return gpu.peak.at(precision); }

/// No table of multiplies of low precision is at hand: they reach the shares of their peak that 16-bit ones do of
/// theirs, 8-bit ones fp8_share of it, but a tile takes as long to start, in which the faster units would have
/// multiplied more.
inline GemmModel gemm_model(const Gpu& gpu, Precision precision) {
  if (const auto own = gpu.gemm_of.find(precision); own != gpu.gemm_of.end()) return own->second;
  if (!is_low_precision(precision)) return has_matrix_units(precision) ? gpu.gemm : gpu.gemm_simt;
  GemmModel model = gemm_model(gpu, Precision::bf16);
  model.fill *= peak(gpu, precision) / peak(gpu, Precision::bf16);
  if (is_eight_bits(precision)) {
    model.mainloop *= gpu.fp8_share;
    model.sustained *= gpu.fp8_share;
  }
  return model;
}

}  // namespace stepcast::schedules
