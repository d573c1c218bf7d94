#include "models/cost/gemm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "sim/long_time.h"

namespace stepcast::schedules {
namespace {

struct Tile {
  double m, n;
  int halvings;  ///< from 256x128: 0, then 1 for 128x128, 2 for 128x64, 3 for 64x64
};

constexpr std::array<Tile, 6> kTiles{
    {{256, 128, 0}, {128, 256, 0}, {128, 128, 1}, {128, 64, 2}, {64, 128, 2}, {64, 64, 3}}};
constexpr int kMostSplits = 4;
constexpr double kPartialSumBytes = 8;  // an fp32 partial sum is written once and read once

double relative_rate(const GemmModel& model, int halvings) {
  switch (halvings) {
    case 0:
      return 1.0;
    case 1:
      return model.tile_128;
    case 2:
      return model.tile_64;
    default:
      return model.tile_64 * model.tile_64;
  }
}

constexpr std::int64_t kWidestLoad = 16;  // bytes; a row that begins at a multiple of it is loaded at full rate

double aligned_rate(const GemmModel& model, std::int64_t alignment) {
  if (alignment >= kWidestLoad) return 1;
  // Ampere's asynchronous copies fetch 16, 8 or 4 bytes and no fewer (CUDA C++ programming guide, memcpy_async).
  return alignment >= 4 ? model.aligned_4 : model.aligned_2;
}

/// `shape` with each `joined` of its batch as one multiply, whose blocks beside the diagonal are zeros.
GemmShape join(GemmShape shape, std::int64_t joined, JoinedGroups groups) {
  shape.n *= joined;
  (groups == JoinedGroups::by_input ? shape.k : shape.m) *= joined;
  shape.batch /= joined;
  return shape;
}

/// Seconds that the SMs take for the tiles of `shape`, in the tiles and the split of k that take least. `outputs`:
/// those that are kept.
double tiled_time(const GemmShape& shape, double outputs, int most_splits, double aligned, const GemmModel& model,
                  const GemmMachine& machine) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double batch = static_cast<double>(shape.batch), sms = machine.sms;
  const double memory_rate = machine.memory.value * machine.memory_efficiency;

  double tiled = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double sm_rate = machine.peak.value / sms * model.mainloop * relative_rate(model, tile.halvings) * aligned;
    const double tiles = std::ceil(m / tile.m) * std::ceil(n / tile.n) * batch;
    for (int splits = 1; splits <= most_splits; ++splits) {
      const double waves = std::ceil(tiles * splits / sms);
      const double partial_sums =
          splits > 1 ? model.exposed_write * kPartialSumBytes * splits * outputs / memory_rate : 0;
      tiled = std::min(tiled, waves * 2 * tile.m * tile.n * (k / splits + model.fill) / sm_rate + partial_sums);
    }
  }
  return tiled;
}

/// `read`: bytes of the inputs; `most_splits`: of k; `alignment`: of rows; `groups`: absent where the batch is
/// multiplied one by one.
Time multiply_time(const GemmShape& shape, double read, int most_splits, std::int64_t alignment,
                   std::optional<JoinedGroups> groups, const GemmModel& model, const GemmMachine& machine) {
  const double outputs = static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.batch);
  const double memory_rate = machine.memory.value * machine.memory_efficiency;
  const double aligned = aligned_rate(model, alignment);

  double tiled = tiled_time(shape, outputs, most_splits, aligned, model, machine);
  for (std::int64_t joined = 2; groups && joined <= shape.batch; ++joined)
    if (shape.batch % joined == 0)
      tiled = std::min(tiled, tiled_time(join(shape, joined, *groups), outputs, most_splits, aligned, model, machine));
  // Zeros switch few transistors: they take time, but no power.
  const double powered = shape.flops().value / (machine.peak.value * model.sustained * aligned);
  const double fed = read / memory_rate;
  const double written = model.exposed_write * outputs * static_cast<double>(shape.output_bytes) / memory_rate;
  const bool at_peak = std::max(tiled, powered) > fed + written;
  return from_seconds(std::max({tiled, powered, fed}) + written,
                      at_peak ? "one multiply takes more than 106 days at cluster.node.gpu.peak"
                              : "one multiply takes more than 106 days at cluster.node.gpu.memory.bandwidth");
}

}  // namespace

std::int64_t row_alignment(const GemmShape& shape) {
  const auto bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(shape.input_bytes));
  const std::int64_t rows = std::gcd(shape.by_columns ? shape.m : shape.k, shape.n);
  return std::gcd(rows * bytes, kWidestLoad);
}

Time gemm_time(const GemmShape& shape, const GemmModel& model, const GemmMachine& machine) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double read = (m * k + k * n) * static_cast<double>(shape.batch) * shape.input_bytes;
  return multiply_time(shape, read, kMostSplits, row_alignment(shape), {}, model, machine);
}

Time convolution_time(const GemmShape& shape, double read, JoinedGroups groups, const GemmModel& model,
                      const GemmMachine& machine) {
  // Libraries pad channels to what their kernels load (cuDNN developer guide, "Tensor Core operations").
  return multiply_time(shape, read, static_cast<int>(machine.sms), kWidestLoad, groups, model, machine);
}

}  // namespace stepcast::schedules
