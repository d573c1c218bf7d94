#include "tests/fuzz/scenarios/random_model.h"

#include <algorithm>

namespace stepcast::test {
namespace {

std::string random_image_layers(Choices& choose) {
  std::string layers;
  const std::uint64_t count = 1 + choose.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    Mapping layer;
    const std::string op = choose.of({"convolution", "max-pool", "average-pool", "batch-norm", "relu", "dropout",
                                      "bottleneck", "basic", "branches"});
    layer.add("op", op);
    if (op == "convolution") {
      layer.add("out", choose.of({8, 64, 96}));
      layer.add("kernel", choose.of({"1", "3", "7", "1x7"}));
      if (choose.one_in(3)) layer.add("stride", 2);
      if (choose.one_in(4)) layer.add("groups", choose.of({2, 4}));
      if (choose.one_in(4)) layer.add("norm", "none");
    } else if (op == "max-pool" || op == "average-pool") {
      layer.add("kernel", choose.of({2, 3}));
      layer.add("stride", 2);
    } else if (op == "bottleneck" || op == "basic") {
      layer.add("out", choose.of({64, 256}));
      layer.add("repeat", 1 + choose.below(3));
    } else if (op == "branches") {
      layer.add("branches", "[[{op: convolution, out: 16, kernel: 3}], [{op: convolution, out: 32}]]");
    }
    layers += layer.flow() + ", ";
  }
  return layers + "{op: average-pool}, ";
}

std::string random_features(Choices& choose, std::uint64_t multiple) {
  std::string layers;
  for (std::uint64_t i = choose.below(4); i > 0; --i)
    layers += fmt::format("{{op: linear, out: {}, activation: {}}}, ", multiple * choose.of({16, 256}),
                          choose.of({"none", "relu"}));
  return layers + fmt::format("{{op: linear, out: {}}}", multiple * 10);
}

std::string random_operators(Choices& choose) {
  std::string layers;
  for (std::uint64_t i = 1 + choose.below(6); i > 0; --i) {
    Mapping layer;
    if (choose.one_in(2)) {
      layer.add("op", "elementwise");
      layer.add("bytes", choose.of({"0 B", "4 MB", "32 MB"}));
      if (choose.one_in(3)) layer.add("kernels", choose.below(4));
      if (choose.one_in(3)) layer.add("parameters", "31.3e6");
    } else {
      layer.add("op", "gemm");
      for (const char* side : {"m", "n", "k"}) layer.add(side, choose.of({1, 64, 512, 3072}));
      if (choose.one_in(3)) layer.add("batch", 16);
      if (choose.one_in(3)) layer.add("parameters", 0);
      if (choose.one_in(4)) layer.add("backward", choose.of({"[]", "[{op: gemm, m: 64, n: 64, k: 128}]"}));
    }
    if (choose.one_in(3)) layer.add("repeat", 1 + choose.below(4));
    layers += (layers.empty() ? "" : ", ") + layer.flow();
  }
  return layers;
}

Mapping random_network(Choices& choose, const std::string& family, std::uint64_t tensor) {
  Mapping model;
  model.add("family", family);
  if (family == "cnn") {
    Mapping image;
    image.add("size", choose.of({32, 64, 224}));
    if (choose.one_in(4)) image.add("channels", 1);
    model.add("image", image);
    model.add("network", '[' + random_image_layers(choose) + random_features(choose, tensor) + ']');
  } else if (family == "mlp") {
    model.add("inputs", tensor * choose.of({4, 784}));
    model.add("network", '[' + random_features(choose, tensor) + ']');
  } else {
    model.add("network", '[' + random_operators(choose) + ']');
  }
  return model;
}

void add_experts(Choices& choose, std::uint64_t tensor, Mapping& model) {
  Mapping experts;
  experts.add("count", choose.of({8, 16, 64}));
  experts.add("active", 1 + choose.below(4));
  if (choose.one_in(2)) experts.add("ffn", tensor * choose.of({64, 512}));
  if (choose.one_in(3)) experts.add("shared_ffn", tensor * 128);
  if (choose.one_in(3)) experts.add("dense_layers", 1);
  if (choose.one_in(4)) experts.add("every", 2);
  model.add("experts", experts);
  if (!choose.one_in(3)) return;
  Mapping latent;
  latent.add("kv_rank", 64);
  if (choose.one_in(2)) latent.add("query_rank", 96);
  latent.add("head", 32);
  latent.add("rotary", 16);
  latent.add("value", 32);
  model.add("latent", latent);
}

/// Of a decoder, otherwise than its family has it.
void add_variations(Choices& choose, Mapping& model) {
  if (choose.one_in(4)) model.add("biases", choose.of({"false", "true", "attention", "feed-forward"}));
  if (choose.one_in(6)) model.add("qk_norm", choose.of({"true", "all-heads"}));
  if (choose.one_in(6)) model.add("post_norms", true);
  if (choose.one_in(6)) model.add("norm_parameters", choose.below(3));
  if (!choose.one_in(4)) return;
  model.add("window", choose.of({64, 256, 100000}));
  if (choose.one_in(2)) model.add("full_attention_every", choose.of({1, 2, 3}));
  if (choose.one_in(4)) model.add("window_in_chunks", true);
}

}  // namespace

std::string random_family(Choices& choose) {
  return choose.of({"gpt", "llama", "moe", "gpt", "llama", "moe", "bert", "t5", "vit", "cnn", "mlp", "operators"});
}

bool is_network(const std::string& family) { return family == "cnn" || family == "mlp" || family == "operators"; }

Mapping random_model(Choices& choose, const std::string& family, const ModelParts& parts, std::uint64_t& layers) {
  layers = 1;
  if (is_network(family)) return random_network(choose, family, parts.tensor);
  Mapping model;
  model.add("family", family);
  layers = parts.chunks * (1 + choose.below(std::max<std::uint64_t>(1, 8 / parts.chunks)));
  const std::uint64_t heads = parts.tensor * (parts.shares_heads ? parts.context : 1) * choose.of({1, 2, 4, 8});
  const std::uint64_t width = choose.of({16, 64, 128});
  model.add("layers", layers);
  model.add("hidden", heads * width);
  model.add("heads", heads);
  if (choose.one_in(3)) model.add("kv_heads", choose.one_in(2) ? heads : choose.divisor(heads, heads));
  if (choose.one_in(8)) model.add("head_width", choose.of({32, 80}));
  if (family == "llama" || family == "moe" || family == "t5" || choose.one_in(4))
    model.add("ffn", parts.tensor * choose.of({64, 256, 1376}));
  if (family != "vit") model.add("vocab", choose.of({1000, 32000, 51200, 128256}));
  if (family == "moe") add_experts(choose, parts.tensor, model);
  if (family == "gpt" || family == "llama" || family == "moe") add_variations(choose, model);
  if (family == "t5") {
    if (choose.one_in(3)) model.add("decoder_layers", layers);
    if (choose.one_in(2)) model.add("gated", true);
    layers *= 2;
  }
  if (family == "vit") {
    Mapping image;
    image.add("size", choose.of({32, 64, 224}));
    model.add("image", image);
    model.add("patch", choose.of({8, 16}));
    model.add("classes", 1000);
  }
  if ((family == "gpt" || family == "bert") && choose.one_in(3)) model.add("positions", 4096);
  return model;
}

}  // namespace stepcast::test
