#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/stream.h"

namespace stepcast::measure {

/// A kernel against a reference on the host, in double, on the same random data.
struct KernelCheck {
  std::string suite, kernel, dtype, layout = "-";  ///< as in kernels.csv; of a step: what is recomputed
  std::int64_t k = 0;                              ///< of attention: head size
  double tolerance = 0;
  std::function<double(cudaStream_t)> error;  ///< see worst_error
};

/// The checks of all hand-written kernels that a GPU of this compute capability (times ten) can run. Shapes are small
/// and odd: no whole number of tiles, packs, warps or blocks.
std::vector<KernelCheck> kernel_checks(int compute_capability);
std::vector<KernelCheck> elementwise_checks(bool bf16);  ///< parts of it
std::vector<KernelCheck> attention_checks(bool bf16);
/// A whole training step of a tiny model against step_reference.h. Needs compute capability 8.0, for bf16.
std::vector<KernelCheck> step_checks();

/// Largest |got - want| over (|want| + root mean square of want); infinite where got is no number.
template <class T>
double worst_error(const std::vector<T>& got, const std::vector<double>& want) {
  double squares = 0, worst = 0;
  for (const double w : want) squares += w * w;
  const double scale = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(want.size(), 1))) + 1e-30;
  if (got.size() != want.size()) return INFINITY;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double g = static_cast<double>(to_float(got[i]));
    if (!std::isfinite(g)) return INFINITY;
    worst = std::max(worst, std::fabs(g - want[i]) / (std::fabs(want[i]) + scale));
  }
  return worst;
}

template <class T>
std::vector<double> wide(const std::vector<T>& values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const T value : values) result.push_back(static_cast<double>(to_float(value)));
  return result;
}

/// Random numbers on the GPU, and the same on the host.
template <class T>
struct RandomInput {
  Buffer<T> device;
  std::vector<double> host;
  RandomInput(std::int64_t elements, std::uint64_t seed, cudaStream_t stream, float scale = 1.0f) : device(elements) {
    fill_random(device.data(), elements, scale, seed, stream);
    host = wide(device.values(stream));
  }
  const T* data() const { return device.data(); }
  double operator[](std::int64_t i) const { return host[static_cast<std::size_t>(i)]; }
};

}  // namespace stepcast::measure
