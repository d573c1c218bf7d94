#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "language/configs/files.h"
#include "schedules/pipeline/pipelines.h"
#include "tests/language/fixtures.h"
#include "topology/fabrics.h"

namespace stepcast::language {
namespace {

using schedules::Precision;
using schedules::Scenario;

TEST(Defaults, AreThoseOfTheReference) {
  const Scenario s = small_with();
  EXPECT_EQ(s.training.precision, Precision::bf16);
  EXPECT_EQ(s.training.optimizer, schedules::Optimizer::adam);
  EXPECT_FALSE(s.training.attention);
  EXPECT_EQ(s.parallelism.tensor, 1u);
  EXPECT_EQ(s.parallelism.pipeline, 1u);
  EXPECT_FALSE(s.parallelism.sequence);
  EXPECT_EQ(s.pipeline.schedule, "1f1b");
  EXPECT_EQ(s.pipeline.virtual_stages, 1u);
  EXPECT_EQ(s.data_parallel.zero, 0);
  EXPECT_FALSE(s.data_parallel.overlap);
  EXPECT_FALSE(s.data_parallel.bucket);
  EXPECT_FALSE(s.data_parallel.gradient_precision);
  EXPECT_EQ(s.recompute, schedules::Recompute::none);
  EXPECT_FALSE(s.measured.step_time);
}

TEST(Defaults, SoftwareIsMegatronCore) { EXPECT_EQ(small_with().software.name, "megatron-core"); }

TEST(Defaults, SoftwareWithoutABaseIsTheUsualOneChanged) {
  const Scenario usual = small_with(), changed = small_with("software: {kernel_gap: 9 us}");
  EXPECT_EQ(changed.software.kernel_gap, microseconds(9));
  EXPECT_EQ(changed.software.name, usual.software.name);
  EXPECT_EQ(changed.software.optimizer_bytes_per_parameter, usual.software.optimizer_bytes_per_parameter);
  EXPECT_EQ(changed.software.memory_reserve, usual.software.memory_reserve);
}

TEST(Defaults, TheOptimizerIsTheSoftwares) {
  EXPECT_EQ(small_with("software: ngc-pytorch-2020").training.optimizer, schedules::Optimizer::momentum);
  EXPECT_EQ(small_with("software: {optimizer: sgd}").training.optimizer, schedules::Optimizer::sgd);
}

TEST(Defaults, DataIsWhatRemains) {
  EXPECT_EQ(small_with().parallelism.data, 8u);
  EXPECT_EQ(small_with("parallelism: {tensor: 2, pipeline: 2}").parallelism.data, 2u);
  EXPECT_EQ(complaint([] { small_with("parallelism: {pipeline: 3}"); }),
            "keys.yaml:1:25: parallelism.pipeline: tensor 1 x pipeline 3 is 3 GPUs, expected a divisor of the "
            "cluster's 8");
}

TEST(Defaults, TheFabricIsTheNodesUsualOne) {
  EXPECT_EQ(small_with().cluster.fabric.name, "rail-fat-tree-hdr");
  EXPECT_EQ(small_with().cluster.fabric.kind, "rail-fat-tree");
  EXPECT_EQ(small_with("cluster: {fabric: one-switch}").cluster.fabric.kind, "one-switch");
  const topology::FabricSpec usual = small_with().cluster.fabric,
                             changed = small_with("cluster: {fabric: {oversubscription: 4}}").cluster.fabric;
  EXPECT_EQ(changed.kind, usual.kind);
  EXPECT_EQ(changed.switch_latency, usual.switch_latency);
  EXPECT_EQ(changed.oversubscription, 4);
  EXPECT_EQ(small_with("cluster: {fabric: {kind: one-switch}}").cluster.fabric.switch_latency, Time{});
}

TEST(Defaults, OneNodeWithoutNodesOrGpus) {
  const Scenario s = small_with("cluster: {gpus: 3}\nparallelism: {tensor: 1}");
  EXPECT_EQ(s.cluster.gpus, 3u);
  Library library = configs();
  const Node tree = parse_yaml(
      "cluster: {node: dgx-h100}\nmodel: llama3-8b\ntraining: {global_batch: 8, micro_batch: 1, sequence: 8}",
      "a.yaml");
  EXPECT_EQ(read_scenario(tree, library).cluster.gpus, 8u);
}

TEST(Defaults, HeadsAndWidthsOfAModel) {
  EXPECT_EQ(small_with().model.kv_heads, 16);
  EXPECT_EQ(small_with().model.ffn, 4096);
  EXPECT_EQ(small_with("model: {hidden: 512}").model.ffn, 2048);
  EXPECT_NE(complaint([] { small_with("model: {family: llama}"); }).find("model.ffn: missing"), std::string::npos);
}

TEST(Defaults, NamesOfBlocksAreTheirFiles) {
  const Scenario s = small_with("model: gpt3-175b\ncluster: selene");
  EXPECT_EQ(s.model.name, "gpt3-175b");
  EXPECT_EQ(s.cluster.node.name, "dgx-a100-80gb");
  EXPECT_EQ(s.cluster.gpu.name, "a100-sxm4-80gb");
  EXPECT_EQ(s.cluster.gpus, 4480u);
}

/// A stack's transport is that of the machines it runs on, but for what it says itself.
TEST(Transport, IsTheOneFittedOnTheClustersMachines) {
  Library library = configs();
  const auto read_on = [&](const std::string& node, const std::string& software) {
    const std::string text = "{cluster: {node: " + node +
                             ", nodes: 1}, model: {family: gpt, layers: 8, hidden: 1024, " +
                             "heads: 16, vocab: 51200}, training: {global_batch: 32, micro_batch: 1, sequence: 1024, " +
                             "precision: bf16}" + software + "}";
    return read_scenario(parse_yaml(text, "text"), library).software;
  };
  const auto fitted = [&](const std::string& stack) {
    return read_software(library.expand_block(make_scalar(stack, {}), software_schema(), ""), stack, library).transport;
  };
  for (const auto& [node, stack] :
       {std::pair{"dgx-a100-80gb", "nccl-a100"}, {"dgx-h100", "nccl-h100"}, {"dgx-1-v100-32gb", "nccl-v100"}}) {
    const schedules::Software usual = read_on(node, ""), own = read_on(node, ", software: {transport: {launch: 7 us}}");
    EXPECT_EQ(usual.name, "megatron-core");
    EXPECT_EQ(usual.transport.launch, fitted(stack).launch) << stack;
    EXPECT_EQ(usual.transport.ll128.share, fitted(stack).ll128.share) << stack;
    EXPECT_EQ(own.transport.launch, microseconds(7));
    EXPECT_EQ(own.transport.ll128.share, fitted(stack).ll128.share) << stack;
    EXPECT_EQ(read_on(node, ", software: deepspeed-2021").transport.most_channels, 1u);
  }
  EXPECT_EQ(read_on("{builder: pcie, gpu: a100-pcie-40gb, gpus: 4, pcie: pcie-gen4-x16, nic: infiniband-hdr}", "")
                .transport.ll.launch,
            fitted("nccl-pcie").ll.launch);
}

/// What a stack has from its base is its own too: nobody but Megatron-LM's kin pads a vocabulary to 128, and PyTorch's
/// pipelines wait on the stream alone.
TEST(Stacks, HaveOfTheirBaseWhatTheyDoThemselves) {
  Library library = configs();
  const auto stack = [&](const char* name) {
    return read_software(library.expand_block(make_scalar(name, {}), software_schema(), ""), "nccl-h100", library);
  };
  for (const char* name : {"pytorch-fsdp2", "pytorch-ddp", "torchtitan", "huggingface-deepspeed"}) {
    EXPECT_EQ(stack(name).vocabulary_multiple, 1) << name;
    EXPECT_FALSE(stack(name).pipeline_sync) << name;
  }
  EXPECT_EQ(stack("nanotron").vocabulary_multiple, 1);
  EXPECT_EQ(stack("pytorch-ddp-compiled").vocabulary_multiple, 8) << "its head is compiled; torchtitan's is not";
  EXPECT_TRUE(stack("nanotron").pipeline_sync);
  EXPECT_EQ(stack("megatron-core").vocabulary_multiple, 128);
  for (const char* name : {"megatron-deepspeed", "megatron-deepspeed-bf16"})
    EXPECT_EQ(stack(name).partition, schedules::Partition::transformer) << name;
}

TEST(Choices, WalkTheListsOfTheLibraries) {
  for (const schedules::PipelineSchedule* schedule : schedules::pipelines()) {
    EXPECT_EQ(small_with("pipeline: {schedule: " + std::string(schedule->name) + "}").pipeline.schedule,
              schedule->name);
  }
  for (const topology::FabricBuilder* fabric : topology::fabrics()) {
    const std::string sides = fabric->name == std::string_view("torus")   ? ", torus: 2x2"
                              : fabric->name == std::string_view("graph") ? ", switches: [{name: leaf, nodes: n0}]"
                                                                          : "";
    EXPECT_EQ(small_with("cluster: {fabric: {kind: " + std::string(fabric->name) + sides + "}}").cluster.fabric.kind,
              fabric->name);
  }
}

TEST(Fusion, OverridesWhatTheSoftwareFuses) {
  const schedules::Software all = small_with("training: {fusion: all}").software;
  EXPECT_TRUE(all.fused_softmax && all.fused_bias_gelu && all.fused_bias_dropout_add);
  EXPECT_EQ(all.fused_cross_entropy, schedules::FusedLoss::yes);
  const schedules::Software none = small_with("training: {fusion: none}").software;
  EXPECT_FALSE(all.composite_operators);
  EXPECT_FALSE(none.fused_softmax || none.fused_bias_gelu || none.fused_bias_dropout_add || none.fused_norm_relu);
}

TEST(TensorGrid, IsTwoOrThreeSizes) {
  EXPECT_EQ(small_with("parallelism: {tensor: 8, tensor_grid: 2x4}").parallelism.tensor_grid,
            (schedules::TensorGrid{2, 4, 1}));
  for (const char* wrong : {"8", "2x", "2x4x", "0x4", "2x4x1x1", "2*4", "x", "2x-4", "2x9999999"})
    EXPECT_NE(complaint([&] {
                small_with("parallelism: {tensor: 8, tensor_grid: " + std::string(wrong) + "}");
              }).find("', expected rows x columns, as 2x4, or rows x columns x depth, as 2x4x2"),
              std::string::npos)
        << wrong;
}

TEST(NotBuiltYet, IsSaidAndNeverIgnored) {
  EXPECT_NE(complaint([] { small_with("data_parallel: {gradient_precision: fp8}"); }).find("known, not built yet"),
            std::string::npos);
}

TEST(Numbers, KeepToTheirRange) {
  EXPECT_EQ(complaint([] { small_with("training: {global_batch: 99999999999}"); }),
            "keys.yaml:1:26: training.global_batch: found '99999999999', expected at most 1000000000");
  EXPECT_EQ(complaint([] { small_with("data_parallel: {bucket: 5000 TB}"); }),
            "keys.yaml:1:25: data_parallel.bucket: found '5000 TB', expected at most 1000 TB");
  for (const char* no : {"-1 GB/s", "0 GB/s", "inf GB/s", "nan GB/s", "25", "25 GB", "1e400 GB/s"}) {
    EXPECT_NE(complaint([&] { small_with("cluster: {nic_bandwidth: " + std::string(no) + "}"); }), "") << no;
  }
}

}  // namespace
}  // namespace stepcast::language
