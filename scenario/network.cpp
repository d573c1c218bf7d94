#include "scenario/network.h"

namespace stepcast::schedules {
namespace {

using Kind = LayerKind;

constexpr double kMostValues = 1e9;

std::int64_t padding(const NetworkLayer& layer, std::int64_t kernel) {
  return layer.padding.value_or(layer.kind == Kind::convolution ? kernel / 2 : 0);
}

/// Pixels along one side behind a kernel.
std::int64_t side(const NetworkLayer& layer, std::int64_t pixels, std::int64_t kernel) {
  return (pixels + 2 * padding(layer, kernel) - kernel) / layer.stride + 1;
}

bool slides(const NetworkLayer& layer) {
  return layer.kind == Kind::convolution ||
         ((layer.kind == Kind::max_pool || layer.kind == Kind::average_pool) && !layer.whole_image);
}

std::string pixels(const Tensor& t) { return std::to_string(t.height) + " x " + std::to_string(t.width); }

NetworkLayer convolution(std::int64_t out, std::int64_t kernel, std::int64_t stride, bool relu) {
  NetworkLayer layer{.kind = Kind::convolution, .out = out, .kernel_height = kernel, .kernel_width = kernel};
  layer.stride = stride;
  layer.norm = true;
  layer.relu = relu;
  return layer;
}

class Checker {
 public:
  std::optional<NetworkProblem> problem;

  /// The result of layers one after the other; what it says of them counts only without a problem.
  Tensor check(const std::vector<NetworkLayer>& layers, Tensor at, const std::string& path) {
    for (std::size_t i = 0; i < layers.size() && !problem; ++i) {
      const std::string here = path + '[' + std::to_string(i) + ']';
      for (std::int64_t turn = 0; turn < layers[i].repeat && !problem; ++turn) {
        const Tensor before = at;
        at = check(spelled_out(layers[i], at, turn), at, here);
        if (!problem && at.values() > kMostValues) wrong(here, "out", "its result has more than 10^9 values a sample");
        if (turn > 0 && at == before) break;  // all others are like this one
      }
    }
    return at;
  }

 private:
  Tensor check(const NetworkLayer& layer, const Tensor& at, const std::string& here) {
    if (layer.kind == Kind::gemm || layer.kind == Kind::elementwise) return at;
    if (at.channels == 0) return wrong(here, "op", "its input is not known: give model.image or model.inputs");
    if (layer.kind == Kind::convolution && at.channels % layer.groups != 0)
      return wrong(here, "groups",
                   std::to_string(layer.groups) + " does not divide the " + std::to_string(at.channels) +
                       " channels of its input");
    if (layer.kind == Kind::convolution && layer.out % layer.groups != 0)
      return wrong(here, "groups", std::to_string(layer.groups) + " does not divide out " + std::to_string(layer.out));
    if (slides(layer) && (at.height + 2 * padding(layer, layer.kernel_height) < layer.kernel_height ||
                          at.width + 2 * padding(layer, layer.kernel_width) < layer.kernel_width))
      return wrong(here, "kernel",
                   std::to_string(layer.kernel_height) + " x " + std::to_string(layer.kernel_width) +
                       " is larger than its padded input of " + pixels(at) + " pixels");
    if (layer.kind == Kind::branches) return check_branches(layer, at, here);
    return output(layer, at);
  }

  Tensor check_branches(const NetworkLayer& layer, const Tensor& at, const std::string& here) {
    std::optional<Tensor> first;
    for (std::size_t b = 0; b < layer.branches.size() && !problem; ++b) {
      const std::string branch = "branches[" + std::to_string(b) + ']';
      const Tensor end = check(layer.branches[b], at, here + '.' + branch);
      if (problem || layer.join == Join::drop) continue;
      if (!first) first = end;
      if (end.height != first->height || end.width != first->width)
        return wrong(here, branch, "ends with " + pixels(end) + " pixels, the first branch with " + pixels(*first));
      if (layer.join == Join::add && end.channels != first->channels)
        return wrong(here, branch,
                     "ends with " + std::to_string(end.channels) + " channels, the first branch with " +
                         std::to_string(first->channels));
    }
    return problem ? at : output(layer, at);
  }

  Tensor wrong(const std::string& here, const std::string& key, const std::string& text) {
    problem = NetworkProblem{here + '.' + key, text};
    return {};
  }
};

}  // namespace

Tensor output(const NetworkLayer& layer, const Tensor& input) {
  switch (layer.kind) {
    case Kind::convolution:
      return {layer.out, side(layer, input.height, layer.kernel_height), side(layer, input.width, layer.kernel_width)};
    case Kind::max_pool:
    case Kind::average_pool:
      if (layer.whole_image) return {input.channels, 1, 1};
      return {input.channels, side(layer, input.height, layer.kernel_height),
              side(layer, input.width, layer.kernel_width)};
    case Kind::linear:
      return {layer.out, 1, 1};
    case Kind::bottleneck:
    case Kind::basic:
      return output(spelled_out(layer, input, 0), input);
    case Kind::branches: {
      if (layer.join == Join::drop) return input;
      Tensor joined{};
      for (const std::vector<NetworkLayer>& branch : layer.branches) {
        Tensor at = input;
        for (const NetworkLayer& inner : branch)
          for (std::int64_t turn = 0; turn < inner.repeat; ++turn) at = output(spelled_out(inner, at, turn), at);
        const std::int64_t before = layer.join == Join::concatenate ? joined.channels : 0;
        joined = at;
        joined.channels += before;
      }
      return joined;
    }
    case Kind::batch_norm:
    case Kind::relu:
    case Kind::dropout:
    case Kind::gemm:
    case Kind::elementwise:
      return input;
  }
  return input;
}

NetworkLayer spelled_out(const NetworkLayer& layer, const Tensor& input, std::int64_t repetition) {
  NetworkLayer once = layer;
  once.repeat = 1;
  if (repetition > 0) once.stride = 1;
  if (layer.kind != Kind::bottleneck && layer.kind != Kind::basic) return once;

  NetworkLayer block{.kind = Kind::branches};
  block.join = Join::add;
  block.relu = true;
  std::vector<NetworkLayer> shortcut;
  if (once.stride != 1 || input.channels != layer.out) shortcut = {convolution(layer.out, 1, once.stride, false)};
  if (layer.kind == Kind::basic) {
    block.branches = {{convolution(layer.out, 3, once.stride, true), convolution(layer.out, 3, 1, false)}, shortcut};
    return block;
  }
  const std::int64_t width = layer.width > 0 ? layer.width : layer.out / 4;
  NetworkLayer middle = convolution(width, 3, once.stride, true);
  middle.groups = layer.groups;
  block.branches = {{convolution(width, 1, 1, true), middle, convolution(layer.out, 1, 1, false)}, shortcut};
  return block;
}

std::optional<NetworkProblem> check(const Network& network) {
  Checker checker;
  checker.check(network.layers, network.input, "network");
  return checker.problem;
}

std::int64_t units(const Network& network) {
  std::int64_t all = 0;
  for (const NetworkLayer& layer : network.layers) all += layer.repeat;
  return all;
}

}  // namespace stepcast::schedules
