#include "language/configs/network.h"

#include <gtest/gtest.h>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using schedules::LayerKind;
using schedules::NetworkLayer;

/// A scenario with this model; the model stands in line 2.
schedules::Scenario read_model(const std::string& model) {
  Library library = configs();
  return read_scenario(parse_yaml("cluster: {node: dgx-1-v100-16gb}\nmodel: {" + model +
                                      "}\ntraining: {global_batch: 64, micro_batch: 8}\n",
                                  "m.yaml"),
                       library);
}

std::string problem(const std::string& model) {
  return complaint([&] { read_model(model); });
}

std::string of_cnn(const std::string& layers) {
  return problem("family: cnn, image: {size: 32}, network: [" + layers + "]");
}

TEST(ReadNetwork, KeysAndTheirDefaultsByOp) {
  const auto s = read_model(
      "family: cnn, image: {size: 32, channels: 1}, network: [{op: convolution, out: 8, kernel: 1x7, stride: 2, "
      "padding: 3, repeat: 2}, {op: convolution, out: 8, groups: 4, norm: none}, {op: max-pool, kernel: 2}, "
      "{op: average-pool}, {op: linear, out: 10}]");
  const std::vector<NetworkLayer>& layers = s.model.network.layers;
  EXPECT_EQ(s.model.network.input, (schedules::Tensor{1, 32, 32}));
  EXPECT_EQ(s.model.layers, 6);
  EXPECT_EQ(s.training.sequence, 1);
  EXPECT_EQ(layers[0].kernel_height, 1);
  EXPECT_EQ(layers[0].kernel_width, 7);
  EXPECT_EQ(layers[0].padding, 3);
  EXPECT_TRUE(layers[0].norm && layers[0].relu && !layers[0].bias);
  EXPECT_TRUE(!layers[1].norm && layers[1].relu && layers[1].bias);
  EXPECT_EQ(layers[1].groups, 4);
  EXPECT_EQ(layers[2].stride, 2);
  EXPECT_TRUE(layers[3].whole_image);
  EXPECT_TRUE(!layers[4].relu && layers[4].bias);
}

TEST(ReadNetwork, OperatorsNeedNoInput) {
  const auto s = read_model(
      "family: operators, network: [{op: gemm, m: 4, n: 5, k: 6, parameters: 0, saved: 7 B, backward: "
      "[{op: elementwise, bytes: 8 B, kernels: 2}]}]");
  const NetworkLayer& gemm = s.model.network.layers.at(0);
  EXPECT_EQ(gemm.kind, LayerKind::gemm);
  EXPECT_EQ(gemm.parameters, 0.0);
  EXPECT_EQ(gemm.saved, 7.0);
  ASSERT_TRUE(gemm.backward);
  EXPECT_EQ(gemm.backward->at(0).bytes, 8.0);
}

TEST(ReadNetwork, SaysWhichKeyOfWhichLayerIsWrong) {
  EXPECT_EQ(of_cnn("{op: convolutoin, out: 8}"),
            "m.yaml:2:56: model.network[0].op: found 'convolutoin', expected one of convolution, linear, max-pool, "
            "average-pool, batch-norm, relu, dropout, bottleneck, basic, branches, gemm, elementwise; did you mean "
            "'convolution'?");
  EXPECT_EQ(of_cnn("{op: convolution}"),
            "m.yaml:2:51: model.network[0].out: missing, expected a whole number of at least 1");
  EXPECT_EQ(of_cnn("{op: linear, out: 8, kernel: 3}"),
            "m.yaml:2:72: model.network[0].kernel: found on op 'linear', which takes one of repeat, out, activation, "
            "bias");
  EXPECT_EQ(of_cnn("{op: convolution, out: 8, kernel: 3y3}"),
            "m.yaml:2:85: model.network[0].kernel: found '3y3', expected pixels such as 3, or height x width such as "
            "1x7, each 1 to 10000");
}

TEST(ReadNetwork, SaysWhichSizesDoNotFit) {
  EXPECT_EQ(of_cnn("{op: convolution, out: 8}, {op: convolution, out: 8, groups: 3}"),
            "m.yaml:2:112: model.network[1].groups: 3 does not divide the 8 channels of its input");
  EXPECT_EQ(of_cnn("{op: max-pool, kernel: 40}"),
            "m.yaml:2:74: model.network[0].kernel: 40 x 40 is larger than its padded input of 32 x 32 pixels");
  EXPECT_EQ(of_cnn("{op: branches, join: add, branches: [[{op: convolution, out: 4}], []]}"),
            "m.yaml:2:117: model.network[0].branches[1]: ends with 3 channels, the first branch with 4");
  EXPECT_EQ(problem("family: operators, network: [{op: linear, out: 8}]"),
            "m.yaml:2:43: model.network[0].op: its input is not known: give model.image or model.inputs");
}

TEST(ReadNetwork, RefusesKeysOfTransformersAndAsksForItsOwn) {
  EXPECT_EQ(problem("family: cnn, heads: 8, image: {size: 8}, network: [{op: relu}]"),
            "m.yaml:2:22: model.heads: found on family 'cnn', which has none");
  EXPECT_EQ(problem("family: gpt, layers: 1, hidden: 8, heads: 1, vocab: 8, inputs: 3"),
            "m.yaml:2:64: model.inputs: found on family 'gpt', which has none");
  EXPECT_EQ(problem("family: cnn, network: [{op: relu}]"),
            "m.yaml:2:8: model.image.size: missing, expected a whole number of at least 1");
  EXPECT_EQ(problem("family: mlp, image: {size: 8}"),
            "m.yaml:2:8: model.network: missing, expected a list such as [{op: linear, out: 10}]");
  Library library = configs();
  EXPECT_EQ(complaint([&] {
              read_scenario(parse_yaml("cluster: {node: dgx-1-v100-16gb}\nmodel: resnet-50\ntraining: {global_batch: "
                                       "8, micro_batch: 1, sequence: 3}",
                                       "m.yaml"),
                            library);
            }),
            "m.yaml:3:55: training.sequence: found a sequence, but samples of this model have no tokens");
}

}  // namespace
}  // namespace stepcast::language
