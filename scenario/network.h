#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepcast::schedules {

/// What one entry of a network does.
enum class LayerKind : std::uint8_t {
  convolution,
  linear,
  max_pool,
  average_pool,
  batch_norm,
  relu,
  dropout,
  bottleneck,  ///< He et al. 2016 (arXiv 1512.03385), fig. 5 right; the 3x3 convolution has the stride ("v1.5")
  basic,       ///< likewise, left: two 3x3 convolutions
  branches,
  gemm,
  elementwise
};

/// What becomes of the results of branches.
enum class Join : std::uint8_t {
  concatenate,  ///< along the channels
  add,
  drop  ///< an auxiliary head: the entry passes its input on
};

/// One entry of a network: a layer, a ready block of layers, branches, or an operator by its sizes.
struct NetworkLayer {
  LayerKind kind{};
  std::int64_t repeat = 1;  ///< times in a row; a stride is the first one's only
  std::int64_t out = 0;     ///< channels, or features of `linear`
  std::int64_t kernel_height = 1, kernel_width = 1;
  bool whole_image = false;  ///< pooling without a kernel
  std::int64_t stride = 1;
  std::optional<std::int64_t>
      padding{};  ///< on every side; none: half the kernel for convolutions, nothing for pooling
  std::int64_t groups = 1;
  std::int64_t width = 0;  ///< inner channels of a bottleneck; 0: a quarter of `out`
  bool norm = false;       ///< batch normalisation behind it
  bool relu = false;       ///< behind that
  bool bias = false;
  Join join = Join::concatenate;
  std::vector<std::vector<NetworkLayer>> branches{};
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  ///< gemm, one sample's
  double bytes = 0;                             ///< elementwise, read and written, one sample's
  int kernels = 1;                              ///< elementwise
  std::optional<double> parameters{};           ///< none: k x n of a gemm
  std::optional<double> saved{};                ///< bytes kept for backward, one sample's; none: a gemm's result
  std::optional<std::vector<NetworkLayer>> backward{};  ///< of gemm and elementwise; none: derived
};

/// One sample's values between two layers. Features are channels of one pixel.
struct Tensor {
  std::int64_t channels = 0, height = 0, width = 0;  ///< 0 channels: not said
  double values() const { return static_cast<double>(channels) * static_cast<double>(height * width); }
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// A model that is no transformer: entries one after the other.
struct Network {
  Tensor input;  ///< an image, or features
  std::vector<NetworkLayer> layers;
};

/// What a layer makes of its input, one repeat. Requires its sizes to fit (check()).
Tensor output(const NetworkLayer& layer, const Tensor& input);

/// A bottleneck or a basic block spelled out as branches on this input; the `repetition`th of its repeats, from 0.
NetworkLayer spelled_out(const NetworkLayer& layer, const Tensor& input, std::int64_t repetition);

/// An entry whose sizes contradict what comes before it.
struct NetworkProblem {
  std::string key;  ///< "network[3].branches[0][1].groups"
  std::string text;
};

/// The first such entry; nothing: the network can be built.
std::optional<NetworkProblem> check(const Network& network);

/// Entries with their repeats: what pipeline stages share out.
std::int64_t units(const Network& network);

}  // namespace stepcast::schedules
